@cuda.jit
def relax(x, out, factor, shift, rounds):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        value = x[i]
        for r in range(rounds):
            value = factor * value + shift
        out[i] = value
