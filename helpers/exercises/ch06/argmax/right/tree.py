import numpy as np

@cuda.jit
def argmax(x, out):
    s = cuda.shared.array(128, "int64")
    t = cuda.threadIdx.x
    m = np.int64(-9223372036854775808)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        k = np.int64(x[i]) << 32 | (0x7FFFFFFF - i)
        if k > m:
            m = k
    s[t] = m
    cuda.syncthreads()
    h = 64
    while h > 0:
        if t < h and s[t+h] > s[t]:
            s[t] = s[t+h]
        cuda.syncthreads()
        h //= 2
    if t == 0:
        cuda.atomic.max(out, 0, s[0])
