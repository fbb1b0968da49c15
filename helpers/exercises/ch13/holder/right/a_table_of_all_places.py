import itertools


def table(shape, stride):
    ways = itertools.product(*(range(size) for size in reversed(shape)))
    return [sum(i * step for i, step in zip(reversed(way), stride)) for way in ways]


def holder(thread_shape, thread_stride, value_shape, value_stride, place):
    values = table(value_shape, value_stride)
    for thread, begin in enumerate(table(thread_shape, thread_stride)):
        if place - begin in values:
            return thread, values.index(place - begin)
