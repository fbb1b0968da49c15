import numpy as np

@cuda.jit
def sides(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        if cuda.threadIdx.x < cuda.blockDim.x // 2:
            for k in range(64):
                v = np.float32(0.99) * v + np.float32(1)
        else:
            for k in range(64):
                v = np.float32(1.01) * v - np.float32(1)
        out[i] = v
