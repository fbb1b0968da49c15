import numpy as np

@cuda.jit
def relu(x, out):
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        out[i] = max(x[i], np.float32(0))
