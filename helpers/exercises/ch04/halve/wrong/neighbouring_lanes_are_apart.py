@cuda.jit
def halve(x, out):
    c, row = cuda.grid(2)
    for column in range(2 * c, min(2 * c + 2, x.shape[1])):
        if row < x.shape[0]:
            out[row, column] = x[row, column] / 2
