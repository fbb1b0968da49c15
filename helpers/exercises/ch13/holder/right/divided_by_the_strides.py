def holder(thread_shape, thread_stride, value_shape, value_stride, place):
    parts = []
    for mode, (shape, stride) in enumerate(((thread_shape, thread_stride), (value_shape, value_stride))):
        weight = 1
        for size, step in zip(shape, stride):
            parts.append((step, size, weight, mode))
            weight *= size
    found = [0, 0]
    for step, size, weight, mode in sorted(parts, reverse=True):
        found[mode] += place // step * weight
        place %= step
    return tuple(found)
