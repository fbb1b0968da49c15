import itertools

def table(shape, stride):
    ways = itertools.product(*(range(size) for size in shape[::-1]))
    return [sum(i * step for i, step in zip(way, stride[::-1])) for way in ways]

def composed(outer_shape, outer_stride, inner_shape, inner_stride):
    outer = table(outer_shape, outer_stride)
    return [outer[place] for place in table(inner_shape, inner_stride)]
