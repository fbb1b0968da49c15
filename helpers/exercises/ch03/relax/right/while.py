@cuda.jit
def relax(x, out, factor, shift, rounds):
    i = cuda.grid(1)
    while i < x.size:
        v = x[i]
        left = rounds
        while left > 0:
            v = v * factor + shift
            left -= 1
        out[i] = v
        i += cuda.gridsize(1)
