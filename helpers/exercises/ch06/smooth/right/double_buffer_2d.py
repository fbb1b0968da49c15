@cuda.jit
def smooth(x, out):
    s = cuda.shared.array((2, 128), "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[0, t] = x[i] if i < x.size else 0
    p = 0
    for _ in range(3):
        cuda.syncthreads()
        left = s[p, t - 1] if t > 0 else s[p, t]
        s[1 - p, t] = (s[p, t] + left) / 2
        p = 1 - p
    if i < x.size:
        out[i] = s[p, t]
