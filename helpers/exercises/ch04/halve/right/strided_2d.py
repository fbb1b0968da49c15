@cuda.jit
def halve(x, out):
    c0, r0 = cuda.grid(2)
    sc, sr = cuda.gridsize(2)
    for r in range(r0, x.shape[0], sr):
        for c in range(c0, x.shape[1], sc):
            out[r, c] = x[r, c]/2
