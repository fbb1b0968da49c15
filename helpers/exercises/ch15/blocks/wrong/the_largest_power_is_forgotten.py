import math


def mx_block(values):
    SIZES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    exponent = math.frexp(max(abs(value) for value in values))[1] - 1
    scale = 2.0**exponent
    nearest = lambda value: min(SIZES, key=lambda size: abs(size - value / scale))
    return exponent, [scale * nearest(value) for value in values]
