@cuda.jit
def spread(x, out):
    i = cuda.grid(1)
    if i < x.shape[1]:
        base = x[0, i]
        s, q = 0.0, 0.0
        for k in range(1, x.shape[0]):
            d = x[k, i] - base
            s += d
            q += d * d
        out[i] = (q - s * s / 64) / 64
