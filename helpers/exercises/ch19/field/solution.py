def field(size, layers):
    sees, jump = 1, 1
    for kernel, stride, padding in layers:
        size = (size + 2 * padding - kernel) // stride + 1
        sees = sees + (kernel - 1) * jump
        jump = jump * stride
    return size, sees
