@cuda.jit
def repeat(value, first, out):
    k = cuda.grid(1)
    if k < out.size:
        row = 0
        step = 1
        while step * 2 < first.size:
            step *= 2
        while step > 0:
            if row + step < value.size and first[row + step] <= k:
                row += step
            step >>= 1
        out[k] = value[row]
