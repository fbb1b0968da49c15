@cuda.jit
def repeat(value, first, out):
    """Store value[r] to out[first[r]] … out[first[r + 1] - 1] for every row r."""
    k = cuda.grid(1)
    if k < out.size:
        lo = -1
        for row in range(value.size):
            lo += first[row] <= k
        out[k] = value[lo]
