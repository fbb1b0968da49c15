import numpy as np

@cuda.jit
def four_rows(x, weights, out):
    j = cuda.grid(1)
    if j < weights.shape[1]:
        for row in range(0, 4, 2):
            upper = lower = np.float32(0)
            for k in range(weights.shape[0]):
                w = weights[k, j]
                upper += x[row, k] * w
                lower += x[row + 1, k] * w
            out[row, j] = upper
            out[row + 1, j] = lower
