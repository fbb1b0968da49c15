def sectors(stride, offset):
    return (31 * stride + offset) // 8 + 1
