import numpy as np

@cuda.jit
def argmax(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.max(out, 0, np.int64(x[i]) << 32 | (0x7FFFFFFF - i))
