import numpy as np

@cuda.jit
def argmax(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        key = np.int64(x[i]) << 32 | (0x7FFFFFFF - i)
        if key > out[0]:
            out[0] = key
