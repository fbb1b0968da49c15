@cuda.jit
def heads_first(x, out):
    tokens, heads, size = x.shape
    i = cuda.grid(1)
    if i < x.size:
        row, k = divmod(i, size)
        head, token = divmod(row, tokens)
        out[head, token, k] = x[token, head, k]
