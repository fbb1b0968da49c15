"""Right answers to lab11.rule by routes other than the solution's."""

KEY = "lab11.rule"

ROWS = [
    # which way, the solution cell
    (
        "a countdown",
        """def loss_scales(overflows, scale, growth, backoff, interval):
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
""",
    ),
    (
        "by the step at which the count began",
        """def loss_scales(overflows, scale, growth, backoff, interval):
    used, since = [], 0
    for step in range(len(overflows)):
        used.append(scale)
        if overflows[step]:
            scale, since = backoff * scale, step + 1
        elif step + 1 - since == interval:
            scale, since = growth * scale, step + 1
    return used, sum(not overflow for overflow in overflows)
""",
    ),
    (
        "a generator",
        """def scales(overflows, scale, growth, backoff, interval):
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
""",
    ),
]
