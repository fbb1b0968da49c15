"""Right answers to lab02.heads by routes other than the solution's."""

KEY = "lab02.heads"

ROWS = [
    # which way, the solution cell
    (
        "divmod",
        """@cuda.jit
def heads_first(x, out):
    tokens, heads, size = x.shape
    i = cuda.grid(1)
    if i < x.size:
        row, k = divmod(i, size)
        head, token = divmod(row, tokens)
        out[head, token, k] = x[token, head, k]
""",
    ),
    (
        "in the order of x",
        """@cuda.jit
def heads_first(x, out):
    tokens, heads, size = x.shape
    i = cuda.grid(1)
    if i < x.size:
        k = i % size
        h = (i // size) % heads
        t = i // (size * heads)
        out[h, t, k] = x[t, h, k]
""",
    ),
    (
        "warp per row",
        """@cuda.jit
def heads_first(x, out):
    tokens, heads, size = x.shape
    i = cuda.grid(1)
    lane = cuda.laneid
    w = i // 32
    for row in range(w, tokens * heads, cuda.gridsize(1) // 32):
        t = row // heads
        h = row % heads
        for k in range(lane, size, 32):
            out[h, t, k] = x[t, h, k]
""",
    ),
    (
        "a device function",
        """@cuda.jit(device=True)
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
""",
    ),
]
