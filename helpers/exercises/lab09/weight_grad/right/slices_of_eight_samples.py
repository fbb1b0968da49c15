@cuda.jit
def weight_grad(dy, a, dw):
    s = cuda.shared.array((8, 32), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = 16 * y + x
    j, c = t // 32, t % 32
    top, side = 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
    total = np.float32(0)
    for first in range(0, a.shape[0], 8):
        b = first + j
        s[j, c] = 0
        if b < a.shape[0]:
            if c < 16:
                if top + c < dy.shape[1]:
                    s[j, c] = dy[b, top + c]
            elif side + c - 16 < a.shape[1]:
                s[j, c] = a[b, side + c - 16]
        cuda.syncthreads()
        for i in range(8):
            total += s[i, y] * s[i, 16 + x]
        cuda.syncthreads()
    if top + y < dw.shape[0] and side + x < dw.shape[1]:
        dw[top + y, side + x] = total
