import math


def surviving(taps, variance, layers):
    square = 1.0
    for _ in range(layers):
        square *= 0.5 * taps * variance
    return math.sqrt(square)
