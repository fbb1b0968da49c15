@cuda.jit
def weight_grad(dy, a, dw):
    left, right = cuda.shared.array((2, 16, 16), "float32"), cuda.shared.array((2, 16, 16), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, side = 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
    total, k = np.float32(0), 0
    for first in range(0, a.shape[0], 16):
        b = first + y
        left[k, y, x] = dy[b, top + x] if b < dy.shape[0] and top + x < dy.shape[1] else 0
        right[k, y, x] = a[b, side + x] if b < a.shape[0] and side + x < a.shape[1] else 0
        cuda.syncthreads()
        for j in range(min(16, a.shape[0] - first)):
            total += left[k, j, y] * right[k, j, x]
        k = 1 - k
    if top + y < dw.shape[0] and side + x < dw.shape[1]:
        dw[top + y, side + x] = total
