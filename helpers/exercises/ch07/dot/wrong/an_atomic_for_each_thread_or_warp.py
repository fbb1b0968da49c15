@cuda.jit
def dot(x, y, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(out, 0, x[i] * y[i])
