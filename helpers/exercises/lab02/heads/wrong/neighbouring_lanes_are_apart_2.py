@cuda.jit
def heads_first(x, out):
    """Store x of shape (tokens, heads, size) as out of shape (heads, tokens, size)."""
    tokens, heads, size = x.shape
    i = cuda.grid(1)
    if i < x.size:
        head, token, k = i % heads, i // heads % tokens, i // heads // tokens
        out[head, token, k] = x[token, head, k]
