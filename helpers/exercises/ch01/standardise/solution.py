@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        value = (x[i] - mean) * scale
        out[i] = min(max(value, -limit), limit)
