@cuda.jit
def heads_first(x, out):
    tokens, heads, size = x.shape
    i = cuda.grid(1)
    if i < x.size:
        k = i % size
        h = (i // size) % heads
        t = i // (size * heads)
        out[h, t, k] = x[t, h, k]
