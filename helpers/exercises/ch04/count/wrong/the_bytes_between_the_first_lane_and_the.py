def sectors(stride, offset):
    first, last = offset, 31 * stride + offset
    return last // 8 - first // 8 + 1
