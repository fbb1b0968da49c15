@cuda.jit
def halve(x, out):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        out[row, column] = x[row, column] / 2
