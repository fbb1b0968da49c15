import math


def mx_block(values):
    SIZES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    largest = max(abs(value) for value in values)
    if largest == 0:
        return -127, [0.0 for value in values]
    exponent = math.frexp(largest)[1] - 1 - 2
    scale = 2.0**exponent
    back = []
    for value in values:
        size = abs(value) / scale
        code = min(range(8), key=lambda code: (abs(SIZES[code] - size), code % 2))
        back.append(math.copysign(scale * SIZES[code], value))
    return exponent, back
