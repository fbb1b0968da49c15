@cuda.jit
def halve(x, out):
    c, r = cuda.grid(2)
    if r < x.shape[0] and c < x.shape[1]:
        row = x[r]
        out[r][c] = row[c] * 0.5
