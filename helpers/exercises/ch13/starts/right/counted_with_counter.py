from collections import Counter
from math import prod


def place_of(number, shape, stride):
    place = 0
    for size, step in zip(shape, stride):
        number, here = divmod(number, size)
        place += here * step
    return place


def starts(shape, stride, limit):
    tile = [place_of(number, shape, stride) for number in range(prod(shape))]
    covered, found = Counter(), []
    for start in range(limit):
        if covered[start] == 0:
            found.append(start)
            covered.update(start + place for place in tile)
    return found if covered == Counter(range(limit)) else []
