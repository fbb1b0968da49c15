def row_size(n, kernel, stride, padding):
    size = (n - 1) * stride - 2 * padding + kernel
    even = kernel % stride == 0
    return size, even
