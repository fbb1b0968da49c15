import itertools
import math


def place(index, shape, stride):
    total = 0
    for size, step in zip(shape, stride):
        index, at = divmod(index, size)
        total += at * step
    return total


def composed(outer_shape, outer_stride, inner_shape, inner_stride):
    found = []
    for coordinates in itertools.product(*(range(size) for size in reversed(inner_shape))):
        inner = sum(at * step for at, step in zip(reversed(coordinates), inner_stride))
        found.append(place(inner, outer_shape, outer_stride))
    assert len(found) == math.prod(inner_shape)
    return found
