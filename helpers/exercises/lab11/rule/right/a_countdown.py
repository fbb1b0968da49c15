def loss_scales(overflows, scale, growth, backoff, interval):
    used, left = [], interval
    for overflow in overflows:
        used += [scale]
        left -= 1
        if overflow:
            scale *= backoff
        elif left == 0:
            scale *= growth
        if overflow or left == 0:
            left = interval
    return used, overflows.count(False)
