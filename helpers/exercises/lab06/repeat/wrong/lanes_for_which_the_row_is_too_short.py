@cuda.jit
def repeat(value, first, out):
    """Store value[r] to out[first[r]] … out[first[r + 1] - 1] for every row r."""
    k = cuda.grid(1)
    for row in range(k // 32, value.size, cuda.gridsize(1) // 32):
        for i in range(first[row] + k % 32, first[row + 1], 32):
            out[i] = value[row]
