@cuda.jit(device=True)
def where(i, tokens, size):
    k = i % size
    i //= size
    return i // tokens, i % tokens, k

@cuda.jit
def heads_first(x, out):
    tokens, heads, size = x.shape
    i = cuda.grid(1)
    if i < x.size:
        h, t, k = where(i, tokens, size)
        out[h, t, k] = x[t, h, k]
