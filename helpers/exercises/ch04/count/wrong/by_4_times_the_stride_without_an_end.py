def sectors(stride, offset):
    return 4 * stride
