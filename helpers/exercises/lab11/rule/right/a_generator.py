def scales(overflows, scale, growth, backoff, interval):
    clean = 0
    for overflow in overflows:
        yield scale
        clean = 0 if overflow else clean + 1
        if overflow:
            scale = scale * backoff
        elif clean % interval == 0:
            scale = scale * growth


def loss_scales(overflows, scale, growth, backoff, interval):
    return list(scales(overflows, scale, growth, backoff, interval)), len(overflows) - sum(overflows)
