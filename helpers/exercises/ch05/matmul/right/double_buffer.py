@cuda.jit
def matmul(a, b, c):
    s = cuda.shared.array((2, 16, 16), "float32")
    u = cuda.shared.array((2, 16, 16), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    rounds = (a.shape[1] + 15) // 16
    total = 0.0
    for r in range(rounds):
        k = 16 * r
        p = r & 1
        s[p, y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0
        u[p, y, x] = b[k + y, col] if k + y < b.shape[0] and col < b.shape[1] else 0.0
        cuda.syncthreads()
        for j in range(16):
            total += s[p, y, j] * u[p, j, x]
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
