from numba import float32
@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    acc = 0.0
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        acc += x[i] * y[i]
    s[t] = acc
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half >>= 1
    if t == 0:
        cuda.atomic.add(out, 0, s[0])
