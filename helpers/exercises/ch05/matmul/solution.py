import numpy as np

@cuda.jit
def matmul(a, b, c):
    mine, yours = cuda.shared.array((16, 16), "float32"), cuda.shared.array((16, 16), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for k in range(0, a.shape[1], 16):
        mine[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0
        yours[y, x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else 0.0
        cuda.syncthreads()
        for j in range(16):
            total += mine[y, j] * yours[j, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
