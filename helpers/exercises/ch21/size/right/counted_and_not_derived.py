def row_size(n, kernel, stride, padding):
    covered = set()
    for i in range(n):
        covered.add(i * stride + kernel)
    return max(covered) - 2 * padding, kernel == kernel // stride * stride
