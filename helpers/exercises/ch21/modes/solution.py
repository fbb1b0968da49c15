import math


def coverage(points, modes, reach, least):
    reached = 0
    for mode in modes:
        near = sum(math.dist(point, mode) < reach for point in points)
        if near >= least:
            reached += 1
    good = sum(any(math.dist(point, mode) < reach for mode in modes) for point in points)
    return reached, good / len(points)
