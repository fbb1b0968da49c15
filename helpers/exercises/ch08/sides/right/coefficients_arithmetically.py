import numpy as np
@cuda.jit
def sides(x, out):
    i = cuda.grid(1)
    if i < x.size:
        odd = i & 1
        a = 0.99 + 0.02 * odd
        b = 1.0 - 2.0 * odd
        v = np.float64(x[i])
        for _ in range(64):
            v = a * v + b
        out[i] = v
