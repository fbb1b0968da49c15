import numpy as np
@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        s = np.float32(0)
        q = np.float32(0)
        for k in range(x.shape[0]):
            v = x[k, i]
            s += v
            q = cuda.fma(v, v, q)
        m = s / np.float32(64)
        out[i] = q / np.float32(64) - m * m
