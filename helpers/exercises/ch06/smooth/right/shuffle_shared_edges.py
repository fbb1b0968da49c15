import numpy as np

@cuda.jit
def smooth(x, out):
    s = cuda.shared.array(4, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    w, l = t // 32, t % 32
    v = x[i] if i < x.size else np.float32(0)
    for _ in range(3):
        if l == 31:
            s[w] = v
        cuda.syncthreads()
        left = cuda.shfl_up_sync(0xffffffff, v, 1)
        if l == 0:
            left = s[w-1] if w > 0 else v
        cuda.syncthreads()
        v = (v + left) / 2
    if i < x.size:
        out[i] = v
