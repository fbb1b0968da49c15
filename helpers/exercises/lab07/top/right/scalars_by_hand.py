@cuda.jit
def top(x, out):
    i = cuda.grid(1)
    if i >= x.shape[1]:
        return
    a = b = c = d = e = f = g = h = np.float32(-np.inf)
    for k in range(x.shape[0]):
        v = x[k, i]
        a, v = max(a, v), min(a, v)
        b, v = max(b, v), min(b, v)
        c, v = max(c, v), min(c, v)
        d, v = max(d, v), min(d, v)
        e, v = max(e, v), min(e, v)
        f, v = max(f, v), min(f, v)
        g, v = max(g, v), min(g, v)
        h = max(h, v)
    out[0, i], out[1, i], out[2, i], out[3, i] = a, b, c, d
    out[4, i], out[5, i], out[6, i], out[7, i] = e, f, g, h
