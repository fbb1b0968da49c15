@cuda.jit
def mirror(x, out):
    c, r = cuda.grid(2)
    rows, cols = x.shape
    if r < rows and c < (cols + 1) // 2:
        a, b = x[r, c], x[r, cols - 1 - c]
        out[r, c] = b
        out[r, cols - 1 - c] = a
