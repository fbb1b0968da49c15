import numpy as np

@cuda.jit
def argmax(x, out):
    s = cuda.shared.array(128, "int64")
    t = cuda.threadIdx.x
    s[t] = -0x8000000000000000
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        s[t] = max(s[t], np.int64(x[i]) << 32 | (0x7FFFFFFF - i))
    cuda.syncthreads()
    if t == 0:
        for j in range(1, 128):
            s[0] = max(s[0], s[j])
        cuda.atomic.max(out, 0, s[0])
