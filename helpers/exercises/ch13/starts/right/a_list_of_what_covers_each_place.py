import itertools


def starts(shape, stride, limit):
    ranges = [range(0, size * step, step) if step else [0] * size for size, step in zip(shape, stride)]
    tile = [sum(each) for each in itertools.product(*ranges)]
    owner = [None] * limit
    found = []
    for place in range(limit):
        if owner[place] is not None:
            continue
        for offset in tile:
            if place + offset >= limit or owner[place + offset] is not None:
                return []
            owner[place + offset] = place
        found.append(place)
    return found
