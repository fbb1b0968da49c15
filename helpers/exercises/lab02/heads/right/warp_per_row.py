@cuda.jit
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
