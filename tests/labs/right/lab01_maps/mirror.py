"""Right answers to lab01.mirror by routes other than the solution's."""

KEY = "lab01.mirror"

ROWS = [
    # which way, the solution cell
    (
        "an index from the end",
        """@cuda.jit
def mirror(x, out):
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[i, -1 - j]
""",
    ),
    (
        "shared tile",
        """@cuda.jit
def mirror(x, out):
    s = cuda.shared.array((8, 32), 'float32')
    j, i = cuda.grid(2)
    ty, tx = cuda.threadIdx.y, cuda.threadIdx.x
    rows, cols = x.shape
    inside = i < rows and j < cols
    if inside:
        s[ty, tx] = x[i, j]
    cuda.syncthreads()
    if inside:
        out[i, cols - 1 - j] = s[ty, tx]
""",
    ),
    (
        "both of a pair",
        """@cuda.jit
def mirror(x, out):
    c, r = cuda.grid(2)
    rows, cols = x.shape
    if r < rows and c < (cols + 1) // 2:
        a, b = x[r, c], x[r, cols - 1 - c]
        out[r, c] = b
        out[r, cols - 1 - c] = a
""",
    ),
    (
        "elements by number",
        """@cuda.jit
def mirror(x, out):
    c, r = cuda.grid(2)
    rows, cols = x.shape
    width = cuda.gridDim.x * cuda.blockDim.x
    i = r * width + c
    while i < rows * cols:
        rr, cc = divmod(i, cols)
        out[rr, cc] = x[rr, cols - 1 - cc]
        i += width * cuda.gridDim.y * cuda.blockDim.y
""",
    ),
]
