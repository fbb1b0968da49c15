@cuda.jit
def square(x, out):
    for r in range(8):
        i = 8 * cuda.grid(1) + r
        if i < x.size:
            out[i] = x[i] * x[i]
