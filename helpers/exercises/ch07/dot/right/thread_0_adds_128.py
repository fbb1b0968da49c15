@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(128, "float32")
    t = cuda.threadIdx.x
    v = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v += x[i] * y[i]
    s[t] = v
    cuda.syncthreads()
    if t == 0:
        v = 0.0
        for k in range(128):
            v += s[k]
        cuda.atomic.add(out, 0, v)
