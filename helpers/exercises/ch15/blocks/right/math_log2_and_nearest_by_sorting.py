import math

SIZES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def nearest(size):
    ranked = sorted(range(8), key=lambda code: (abs(SIZES[code] - size), code & 1))
    return SIZES[ranked[0]]


def mx_block(values):
    largest = max(map(abs, values))
    if not largest:
        return -127, [0.0] * len(values)
    exponent = math.floor(math.log2(largest)) - 2
    return exponent, [math.copysign(math.ldexp(nearest(math.ldexp(abs(v), -exponent)), exponent), v) for v in values]
