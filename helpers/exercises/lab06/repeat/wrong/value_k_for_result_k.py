@cuda.jit
def repeat(value, first, out):
    """Store value[r] to out[first[r]] … out[first[r + 1] - 1] for every row r."""
    k = cuda.grid(1)
    if k < value.size and k < out.size:
        out[k] = value[k]
