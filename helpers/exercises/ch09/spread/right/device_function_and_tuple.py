@cuda.jit(device=True)
def add(acc, v):
    return acc[0] + v, acc[1] + v * v
@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        acc = (0.0, 0.0)
        for k in range(64):
            acc = add(acc, x[k, i])
        out[i] = acc[1] / 64 - (acc[0] / 64) ** 2
