import math


def score_bytes(layers, batch, heads, length, itemsize):
    return math.prod((layers, batch, heads, itemsize)) * length**2
