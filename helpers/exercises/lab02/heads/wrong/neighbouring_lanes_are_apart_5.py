@cuda.jit
def heads_first(x, out):
    """Store x of shape (tokens, heads, size) as out of shape (heads, tokens, size)."""
    tokens, heads, size = x.shape
    i = cuda.grid(1)
    for j in range(4 * i, min(4 * i + 4, x.size)):
        row = j // size
        out[row // tokens, row % tokens, j % size] = x[row % tokens, row // tokens, j % size]
