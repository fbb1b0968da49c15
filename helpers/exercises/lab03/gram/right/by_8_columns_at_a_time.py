@cuda.jit
def gram(a, out):
    left, right = cuda.shared.array((32, 9), "float32"), cuda.shared.array((32, 9), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, side = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    s00 = s01 = s10 = s11 = np.float32(0)
    for first in range(0, a.shape[1], 8):
        t = 16 * y + x
        r, c = t // 8, t % 8
        k = first + c
        left[r, c] = a[top + r, k] if top + r < a.shape[0] and k < a.shape[1] else 0
        right[r, c] = a[side + r, k] if side + r < a.shape[0] and k < a.shape[1] else 0
        cuda.syncthreads()
        for j in range(8):
            a0, a1, b0, b1 = left[y, j], left[y + 16, j], right[x, j], right[x + 16, j]
            s00 += a0 * b0
            s01 += a0 * b1
            s10 += a1 * b0
            s11 += a1 * b1
        cuda.syncthreads()
    for k in range(4):
        r, c, s = top + y + k // 2 * 16, side + x + k % 2 * 16, (s00, s01, s10, s11)[k]
        if r < out.shape[0] and c < out.shape[1]:
            out[r, c] = s
