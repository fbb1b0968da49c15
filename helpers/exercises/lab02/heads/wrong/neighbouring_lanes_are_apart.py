@cuda.jit
def heads_first(x, out):
    """Store x of shape (tokens, heads, size) as out of shape (heads, tokens, size)."""
    tokens, heads, size = x.shape
    i = cuda.grid(1)
    if i < x.size:
        token, k, head = i % tokens, i // tokens % size, i // tokens // size
        out[head, token, k] = x[token, head, k]
