@cuda.jit
def mode(values, parts, tickets, out):
    """Store the most frequent of values, which are from 0 to 63, in out[0]."""
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(parts, (0, values[i]), 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        best = 0
        for k in range(1, 64): best = k if parts[0, k] > parts[0, best] else best
        out[0] = best
