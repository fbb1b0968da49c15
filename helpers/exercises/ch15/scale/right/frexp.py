import math


def best_scale(sizes):
    ratio, power = math.frexp(65504 / max(sizes))
    scale = math.ldexp(1.0, power - 1)
    lost = 0
    for size in sizes:
        if 0 < size * scale <= 1 / 2**25:
            lost += 1
    return scale, lost
