@cuda.jit
def square(x, out):
    if cuda.grid(1) == 0:
        for i in range(x.size):
            out[i] = x[i] * x[i]
