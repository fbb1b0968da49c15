@cuda.jit
def matmul(a, b, c):
    mine, yours = cuda.shared.array(256, "float32"), cuda.shared.array(256, "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = 0.0
    for k in range(0, a.shape[1], 16):
        mine[16*y + x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0
        yours[16*y + x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else 0.0
        cuda.syncthreads()
        for j in range(16):
            total += mine[16*y + j] * yours[16*j + x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
