@cuda.jit
def causal(q, k, out):
    s = cuda.shared.array((32, 9), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    h, top, side, n = cuda.blockIdx.z, 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x, q.shape[1]
    t = 16 * y + x
    r, c = t // 8, t % 8
    total = np.float32(0)
    if side <= top:
        for first in range(0, q.shape[2], 8):
            v = np.float32(0)
            if first + c < q.shape[2]:
                if r < 16 and top + r < n:
                    v = q[h, top + r, first + c]
                elif r >= 16 and side + r - 16 < n:
                    v = k[h, side + r - 16, first + c]
            s[r, c] = v
            cuda.syncthreads()
            for j in range(8):
                total += s[y, j] * s[16 + x, j]
            cuda.syncthreads()
    row, column = top + y, side + x
    if row < n and column < n:
        out[h, row, column] = -np.inf if column > row else total
