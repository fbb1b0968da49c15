@cuda.jit
def transpose(x, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = x[row, column]
