@cuda.jit
def heads_first(x, out):
    """Store x of shape (tokens, heads, size) as out of shape (heads, tokens, size)."""
    tokens, heads, size = x.shape
    i = cuda.grid(1)
    if i < tokens * heads:
        for k in range(size):
            out[i // tokens, i % tokens, k] = x[i % tokens, i // tokens, k]
