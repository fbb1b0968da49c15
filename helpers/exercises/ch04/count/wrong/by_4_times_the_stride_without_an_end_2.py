def sectors(stride, offset):
    return max(1, 4 * stride)
