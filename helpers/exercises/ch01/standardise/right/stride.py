@cuda.jit
def standardise(x, mean, scale, limit, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = min(max((x[i]-mean)*scale, -limit), limit)
