@cuda.jit
def argmax(x, out):
    s = cuda.shared.array(128, "int64")
    t = cuda.threadIdx.x
    m = -(1 << 63)
    i = cuda.grid(1)
    while i < x.size:
        m = max(m, x[i] * 4294967296 + 2147483647 - i)
        i += cuda.gridsize(1)
    s[t] = m
    cuda.syncthreads()
    n = cuda.blockDim.x >> 1
    while n:
        if t < n:
            s[t] = max(s[t], s[t+n])
        n >>= 1
        cuda.syncthreads()
    if t == 0:
        cuda.atomic.max(out, 0, s[0])
