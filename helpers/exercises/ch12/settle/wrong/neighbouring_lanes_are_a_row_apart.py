@cuda.jit
def settle(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        for column in range(16):
            value = x[row, column]
            r = value
            if row % 2 == 0:
                for _ in range(40):
                    r = value / (value + r)
            out[row, column] = r
