@cuda.jit
def smooth(x, out):
    s = cuda.shared.array(128, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    for _ in range(3):
        left = s[t - 1] if t > 0 else s[t]
        cuda.syncthreads()
        s[t] = (s[t] + left) / 2
        cuda.syncthreads()
    if i < x.size:
        out[i] = s[t]
