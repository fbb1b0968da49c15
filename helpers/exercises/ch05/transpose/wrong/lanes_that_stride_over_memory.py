@cuda.jit
def transpose(x, out):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        out[column, row] = x[row, column]
