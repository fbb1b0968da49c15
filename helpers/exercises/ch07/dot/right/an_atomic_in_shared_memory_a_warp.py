import numpy as np
@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(1, "float32")
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    v = np.float32(0.0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v += x[i] * y[i]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xffffffff, v, d)
    if t & 31 == 0:
        cuda.atomic.add(s, 0, v)
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, s[0])
