@cuda.jit(device=True)
def settled(value):
    r = value
    for _ in range(40):
        r = value / (value + r)
    return r
@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    odd = (i >> 5) & 1
    row = ((i >> 6) << 2) + (((i >> 4) & 1) << 1) + odd
    column = i & 15
    if row < len(x):
        v = x[row, column]
        out[row, column] = v if odd else settled(v)
