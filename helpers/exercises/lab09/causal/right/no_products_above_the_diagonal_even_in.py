@cuda.jit
def causal(q, k, out):
    mine, yours = cuda.shared.array((16, 17), "float32"), cuda.shared.array((16, 17), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    h, top, side = cuda.blockIdx.z, 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
    row, column, n = top + y, side + x, q.shape[1]
    total = np.float32(0)
    pieces = (q.shape[2] + 15) // 16 if side < top + 16 else 0
    for piece in range(pieces):
        j = 16 * piece + x
        mine[y, x] = q[h, row, j] if row < n and j < q.shape[2] else 0
        yours[y, x] = k[h, side + y, j] if side + y < n and j < k.shape[2] else 0
        cuda.syncthreads()
        if column <= row:
            for j in range(16):
                total += mine[y, j] * yours[x, j]
        cuda.syncthreads()
    if row < n and column < n:
        out[h, row, column] = total if column <= row else -np.inf
