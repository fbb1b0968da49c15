import numpy as np

@cuda.jit
def matmul(a, b, c):
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total
