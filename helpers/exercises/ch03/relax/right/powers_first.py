@cuda.jit
def relax(x, out, factor, shift, rounds):
    power, added = factor / factor, factor - factor
    for r in range(rounds):
        added = factor * added + shift
        power = power * factor
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = power * x[i] + added
