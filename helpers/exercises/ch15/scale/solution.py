import math


def best_scale(sizes):
    scale = 2.0 ** math.floor(math.log2(65504 / max(sizes)))
    lost = sum(0 < size * scale <= 2.0**-25 for size in sizes)
    return scale, lost
