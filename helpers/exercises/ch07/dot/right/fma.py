import math, numpy as np
@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(shape=(4,), dtype=np.float32)
    bx, tx = cuda.blockIdx.x, cuda.threadIdx.x
    acc = np.float32(0)
    for i in range(bx * 128 + tx, x.size, 512):
        acc = cuda.fma(x[i], y[i], acc)
    for k in range(5):
        acc += cuda.shfl_down_sync(-1, acc, 16 >> k)
    if tx % 32 == 0:
        s[tx // 32] = acc
    cuda.syncthreads()
    if tx < 32:
        v = s[tx & 3]
        v += cuda.shfl_xor_sync(-1, v, 2)
        v += cuda.shfl_xor_sync(-1, v, 1)
        if tx == 0:
            cuda.atomic.add(out, 0, v)
