@cuda.jit
def square(x, out):
    i = cuda.grid(1)
    while i < x.size:
        v = x[i]
        out[i] = v*v
        i += cuda.gridsize(1)
