import numpy as np

@cuda.jit
def four_rows(x, weights, out):
    for j in range(cuda.grid(1), out.shape[1], cuda.gridsize(1)):
        sums = (np.float32(0), np.float32(0), np.float32(0), np.float32(0))
        for k in range(weights.shape[0] - 1, -1, -1):
            w = weights[k, j]
            sums = (
                cuda.fma(x[0, k], w, sums[0]),
                cuda.fma(x[1, k], w, sums[1]),
                cuda.fma(x[2, k], w, sums[2]),
                cuda.fma(x[3, k], w, sums[3]),
            )
        for row in range(4):
            out[row, j] = sums[row]
