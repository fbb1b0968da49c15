@cuda.jit
def halve(x, out):
    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            out[row, column] = x[row, column] / 2
