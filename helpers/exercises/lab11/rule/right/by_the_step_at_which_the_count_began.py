def loss_scales(overflows, scale, growth, backoff, interval):
    used, since = [], 0
    for step in range(len(overflows)):
        used.append(scale)
        if overflows[step]:
            scale, since = backoff * scale, step + 1
        elif step + 1 - since == interval:
            scale, since = growth * scale, step + 1
    return used, sum(not overflow for overflow in overflows)
