@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    warp, lane = i // 32, i % 32
    row = 4 * (warp // 2) + warp % 2 + 2 * (lane // 16)
    column = lane % 16
    if row < x.shape[0]:
        value = x[row, column]
        r = value
        if row % 2 == 0:
            for _ in range(40):
                r = value / (value + r)
        out[row, column] = r
