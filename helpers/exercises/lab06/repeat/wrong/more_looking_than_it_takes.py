@cuda.jit
def repeat(value, first, out):
    """Store value[r] to out[first[r]] … out[first[r + 1] - 1] for every row r."""
    k = cuda.grid(1)
    if k < out.size:
        lo = 0
        while first[lo + 1] <= k:
            lo += 1
        out[k] = value[lo]
