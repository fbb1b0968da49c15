@cuda.jit
def settle(x, out):
    i = cuda.grid(1)
    n = x.shape[0]
    evens = (n + 1) // 2
    slot, column = i // 16, i % 16
    if slot < evens:
        value = x[2 * slot, column]
        r = value
        for _ in range(40):
            r = value / (value + r)
        out[2 * slot, column] = r
    elif slot < n:
        row = 2 * (slot - evens) + 1
        out[row, column] = x[row, column]
