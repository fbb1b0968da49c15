def sectors(stride, offset):
    return 31 * stride // 8 + 1
