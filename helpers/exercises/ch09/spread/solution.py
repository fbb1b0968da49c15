@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total, squares = 0.0, 0.0
        for k in range(64):
            v = x[k, i]
            total += v
            squares += v * v
        mean = total / 64
        out[i] = squares / 64 - mean * mean
