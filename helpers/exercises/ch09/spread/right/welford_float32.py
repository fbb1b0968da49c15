import numpy as np
@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    mean = np.float32(0)
    m2 = np.float32(0)
    for k in range(64):
        v = x[k, i]
        d = v - mean
        mean += d / np.float32(k + 1)
        m2 += d * (v - mean)
    out[i] = m2 / np.float32(64)
