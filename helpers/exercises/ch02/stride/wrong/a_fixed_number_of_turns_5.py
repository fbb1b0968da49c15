@cuda.jit
def square(x, out):
    for r in range(8):
        i = cuda.grid(1) + r * cuda.gridsize(1)
        if i < x.size:
            out[i] = x[i] * x[i]
