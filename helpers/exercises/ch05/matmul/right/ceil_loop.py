import numpy as np

@cuda.jit
def matmul(a, b, c):
    sa = cuda.shared.array((16, 16), np.float32)
    sb = cuda.shared.array((16, 16), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * 16 + tx
    row = cuda.blockIdx.y * 16 + ty
    acc = np.float32(0)
    for t in range((a.shape[1] + 15) // 16):
        k = t * 16
        if row < a.shape[0] and k + tx < a.shape[1]:
            sa[ty, tx] = a[row, k + tx]
        else:
            sa[ty, tx] = 0
        if k + ty < b.shape[0] and col < b.shape[1]:
            sb[ty, tx] = b[k + ty, col]
        else:
            sb[ty, tx] = 0
        cuda.syncthreads()
        for j in range(16):
            acc += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = acc
