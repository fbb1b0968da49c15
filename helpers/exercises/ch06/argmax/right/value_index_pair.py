import numpy as np

@cuda.jit
def argmax(x, out):
    v = cuda.shared.array(128, "int32")
    p = cuda.shared.array(128, "int32")
    t = cuda.threadIdx.x
    bv = np.int32(-2147483648)
    bp = np.int32(2147483647)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] > bv:
            bv = x[i]
            bp = np.int32(i)
    v[t] = bv
    p[t] = bp
    cuda.syncthreads()
    h = 64
    while h > 0:
        if t < h:
            if v[t+h] > v[t] or (v[t+h] == v[t] and p[t+h] < p[t]):
                v[t] = v[t+h]
                p[t] = p[t+h]
        cuda.syncthreads()
        h >>= 1
    if t == 0 and p[0] != 2147483647:
        cuda.atomic.max(out, 0, (np.int64(v[0]) << 32) | np.int64(0x7FFFFFFF - p[0]))
