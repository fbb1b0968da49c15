def field(size, layers):
    for kernel, stride, padding in layers:
        size = 1 + (size + 2 * padding - kernel) // stride
    sees = 1
    for kernel, stride, _ in reversed(layers):
        sees = (sees - 1) * stride + kernel
    return size, sees
