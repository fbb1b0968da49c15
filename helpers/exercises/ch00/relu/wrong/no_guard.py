@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    out[i] = x[i]
