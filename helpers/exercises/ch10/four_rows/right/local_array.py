from numba import float32

@cuda.jit
def four_rows(x, weights, out):
    j = cuda.grid(1)
    inputs, outputs = weights.shape
    if j >= outputs:
        return
    sums = cuda.local.array(4, float32)
    for row in range(4):
        sums[row] = 0
    for k in range(inputs):
        w = weights[k, j]
        for row in range(4):
            sums[row] += x[row, k] * w
    for row in range(4):
        out[row, j] = sums[row]
