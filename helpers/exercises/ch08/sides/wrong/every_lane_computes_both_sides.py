import numpy as np

@cuda.jit
def sides(x, out):
    i = cuda.grid(1)
    if i < x.size:
        even, odd = x[i], x[i]
        for k in range(64):
            even = np.float32(0.99) * even + np.float32(1)
            odd = np.float32(1.01) * odd - np.float32(1)
        out[i] = even if i % 2 == 0 else odd
