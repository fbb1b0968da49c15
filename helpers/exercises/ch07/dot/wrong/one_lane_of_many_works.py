@cuda.jit
def dot(x, y, out):
    if cuda.grid(1) == 0:
        total = 0.0
        for i in range(x.size):
            total += x[i] * y[i]
        out[0] = total
