import math


def surviving(taps, variance, layers):
    share = taps * variance / 2
    return math.sqrt(share) ** layers
