@cuda.jit
def mirror(x, out):
    c, r = cuda.grid(2)
    rows, cols = x.shape
    width = cuda.gridDim.x * cuda.blockDim.x
    i = r * width + c
    while i < rows * cols:
        rr, cc = divmod(i, cols)
        out[rr, cc] = x[rr, cols - 1 - cc]
        i += width * cuda.gridDim.y * cuda.blockDim.y
