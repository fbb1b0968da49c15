@cuda.jit
def halve(x, out):
    gx, gy = cuda.grid(2)
    sx, sy = cuda.gridsize(2)
    n = gy*sx+gx
    rows, cols = x.shape
    for k in range(n, rows*cols, sx*sy):
        out[k//cols, k%cols] = x[k//cols, k%cols]/2
