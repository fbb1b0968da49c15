def loss_scales(overflows, scale, growth, backoff, interval):
    """The scale that each step was made with, and how many steps were not skipped."""
    used = []
    for overflow in overflows:
        used.append(scale)
        scale = scale * (backoff if overflow else growth)
    return used, overflows.count(False)
