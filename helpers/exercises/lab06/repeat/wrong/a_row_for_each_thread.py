@cuda.jit
def repeat(value, first, out):
    """Store value[r] to out[first[r]] … out[first[r + 1] - 1] for every row r."""
    k = cuda.grid(1)
    if k < value.size:
        for i in range(first[k], first[k + 1]):
            out[i] = value[k]
