@cuda.jit
def mirror(x, out):
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[i, -1 - j]
