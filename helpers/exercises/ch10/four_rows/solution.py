import numpy as np

@cuda.jit
def four_rows(x, weights, out):
    j = cuda.grid(1)
    if j < weights.shape[1]:
        first = second = third = fourth = np.float32(0)
        for k in range(weights.shape[0]):
            w = weights[k, j]
            first += x[0, k] * w
            second += x[1, k] * w
            third += x[2, k] * w
            fourth += x[3, k] * w
        out[0, j] = first
        out[1, j] = second
        out[2, j] = third
        out[3, j] = fourth
