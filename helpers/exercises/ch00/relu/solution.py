@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = max(x[i], 0.0)
