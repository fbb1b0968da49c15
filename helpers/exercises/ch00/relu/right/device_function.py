@cuda.jit(device=True)
def pos(v):
    return (v + abs(v)) / 2
@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = pos(x[i])
