import math


def best_scale(sizes):
    return 65504 / max(sizes), 0
