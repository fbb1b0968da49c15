import math


def tiles(positions, filters, depth):
    counts = [math.ceil(size / 16) for size in (positions, filters, depth)]
    shares = [size / (16 * count) for size, count in zip((positions, filters, depth), counts)]
    return math.prod(counts), math.prod(shares)
