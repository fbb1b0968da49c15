@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    pair, column = i // 16, i % 16
    even, odd = 2 * pair, 2 * pair + 1
    if odd < x.shape[0]:
        out[odd, column] = x[odd, column]
    if even < x.shape[0]:
        v = x[even, column]
        r = v
        for _ in range(40):
            r = v / (v + r)
        out[even, column] = r
