import numpy as np

@cuda.jit
def sides(x, out):
    t, half = cuda.threadIdx.x, cuda.blockDim.x // 2
    even = t < half
    i = cuda.blockIdx.x * cuda.blockDim.x + (2 * t if even else 2 * (t - half) + 1)
    if i < x.size:
        v = x[i]
        if even:
            for k in range(64):
                v = np.float32(0.99) * v + np.float32(1)
        else:
            for k in range(64):
                v = np.float32(1.01) * v - np.float32(1)
        out[i] = v
