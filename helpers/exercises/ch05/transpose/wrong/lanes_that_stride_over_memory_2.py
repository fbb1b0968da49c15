@cuda.jit
def transpose(x, out):
    column, row = cuda.grid(2)
    if column < x.shape[0] and row < x.shape[1]:
        out[row, column] = x[column, row]
