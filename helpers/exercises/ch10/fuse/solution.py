import numpy as np

@cuda.jit
def fuse(x, t, out, gain, shift):
    i = cuda.grid(1)
    if i < x.size:
        y = gain * x[i] + shift
        out[i] = y * y * (np.float32(3) - np.float32(2) * y)
