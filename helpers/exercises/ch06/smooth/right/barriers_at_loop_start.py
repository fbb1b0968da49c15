@cuda.jit
def smooth(x, out):
    s = cuda.shared.array(128, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    for _ in range(3):
        cuda.syncthreads()
        left = s[t - 1] if t > 0 else s[t]
        cuda.syncthreads()
        s[t] = (s[t] + left) / 2
    if i < x.size:
        out[i] = s[t]
