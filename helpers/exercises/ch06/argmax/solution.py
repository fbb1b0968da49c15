import numpy as np

@cuda.jit
def argmax(x, out):
    best = cuda.shared.array(1, "int64")
    if cuda.threadIdx.x == 0:
        best[0] = -(1 << 63)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.max(best, 0, np.int64(x[i]) << 32 | (0x7FFFFFFF - i))
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.max(out, 0, best[0])
