@cuda.jit
def repeat(value, first, out):
    """Store value[r] to out[first[r]] … out[first[r + 1] - 1] for every row r."""
    k = cuda.grid(1)
    for k in range(value.size if k == 0 else 0):
        for i in range(first[k], first[k + 1]):
            out[i] = value[k]
