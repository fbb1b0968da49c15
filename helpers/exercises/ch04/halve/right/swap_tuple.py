@cuda.jit
def halve(x, out):
    i, j = cuda.grid(2)
    if j < x.shape[0] and i < x.shape[1]:
        out[j, i] = x[j, i] / 2
