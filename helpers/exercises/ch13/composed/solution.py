def where(index, shape, stride):
    place = 0
    for size, step in zip(shape, stride):
        place += index % size * step
        index //= size
    return place


def composed(outer_shape, outer_stride, inner_shape, inner_stride):
    count = 1
    for size in inner_shape:
        count *= size
    return [where(where(i, inner_shape, inner_stride), outer_shape, outer_stride) for i in range(count)]
