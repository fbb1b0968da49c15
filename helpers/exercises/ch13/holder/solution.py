def where(number, shape, stride):
    place = 0
    for size, step in zip(shape, stride):
        place += number % size * step
        number //= size
    return place


def count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def holder(thread_shape, thread_stride, value_shape, value_stride, place):
    for thread in range(count(thread_shape)):
        for value in range(count(value_shape)):
            if where(thread, thread_shape, thread_stride) + where(value, value_shape, value_stride) == place:
                return thread, value
