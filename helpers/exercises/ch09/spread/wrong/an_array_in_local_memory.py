@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        values = cuda.local.array(64, "float32")
        total = 0.0
        for k in range(x.shape[0]):
            values[k] = x[k, i]
            total += values[k]
        squares = 0.0
        for k in range(x.shape[0]):
            squares += (values[k] - total / 64) ** 2
        out[i] = squares / 64
