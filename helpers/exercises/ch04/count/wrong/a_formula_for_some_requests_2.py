def sectors(stride, offset):
    return min(4 * stride, 32) + (offset % 8 > 0)
