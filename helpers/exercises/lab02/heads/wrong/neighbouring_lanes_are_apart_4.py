@cuda.jit
def heads_first(x, out):
    """Store x of shape (tokens, heads, size) as out of shape (heads, tokens, size)."""
    tokens, heads, size = x.shape
    i = cuda.grid(1)
    if i == 0:
        for head in range(heads):
            for token in range(tokens):
                for k in range(size):
                    out[head, token, k] = x[token, head, k]
