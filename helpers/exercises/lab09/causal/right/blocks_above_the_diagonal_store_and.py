@cuda.jit
def causal(q, k, out):
    mine, yours = cuda.shared.array((16, 17), "float32"), cuda.shared.array((17, 17), "float32")
    x, y, h, n = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.z, q.shape[1]
    column, row = cuda.grid(2)
    if cuda.blockIdx.x > cuda.blockIdx.y:
        if row < n and column < n:
            out[h, row, column] = -np.inf
        return
    total = np.float32(0)
    for first in range(0, q.shape[2], 16):
        mine[y, x] = yours[x, y] = 0
        if first + x < q.shape[2]:
            if row < n:
                mine[y, x] = q[h, row, first + x]
            if 16 * cuda.blockIdx.x + y < n:
                yours[x, y] = k[h, 16 * cuda.blockIdx.x + y, first + x]
        cuda.syncthreads()
        for j in range(16):
            total += mine[y, j] * yours[j, x]
        cuda.syncthreads()
    if row < n and column < n:
        if column > row:
            out[h, row, column] = -np.inf
        else:
            out[h, row, column] = total
