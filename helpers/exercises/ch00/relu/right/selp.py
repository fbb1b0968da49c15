import numpy as np

@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = cuda.selp(x[i] > 0, x[i], np.float32(0))
