"""Right answers to lab03.pool by routes other than the solution's."""

KEY = "lab03.pool"

ROWS = [
    # which way, the solution cell
    (
        "elements of the tile by number",
        """@cuda.jit
def pool(x, out):
    tile = cuda.shared.array((10, 34), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    for i in range(ty * 32 + tx, 340, 256):
        y, k = divmod(i, 34)
        r = cuda.blockIdx.y * 8 + y - 1
        c = cuda.blockIdx.x * 32 + k - 1
        if 0 <= r < x.shape[0] and 0 <= c < x.shape[1]:
            tile[y, k] = x[r, c]
        else:
            tile[y, k] = -np.inf
    cuda.syncthreads()
    if row < x.shape[0] and column < x.shape[1]:
        best = tile[ty, tx]
        for y in range(3):
            for k in range(3):
                best = max(best, tile[ty + y, tx + k])
        out[row, column] = best
""",
    ),
    (
        "own element, then the halo by branches",
        """@cuda.jit
def pool(x, out):
    tile = cuda.shared.array((10, 34), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    rows, cols = x.shape
    NEG = np.float32(-3.4e38)
    inside = row < rows and column < cols
    tile[ty + 1, tx + 1] = x[row, column] if inside else NEG
    if tx == 0:
        tile[ty + 1, 0] = x[row, column - 1] if row < rows and 0 < column <= cols else NEG
    if tx == 31:
        tile[ty + 1, 33] = x[row, column + 1] if row < rows and column + 1 < cols else NEG
    if ty == 0:
        tile[0, tx + 1] = x[row - 1, column] if row > 0 and row <= rows and column < cols else NEG
    if ty == 7:
        tile[9, tx + 1] = x[row + 1, column] if row + 1 < rows and column < cols else NEG
    if tx == 0 and ty == 0:
        tile[0, 0] = x[row - 1, column - 1] if row > 0 and column > 0 else NEG
    if tx == 31 and ty == 0:
        tile[0, 33] = x[row - 1, column + 1] if row > 0 and column + 1 < cols else NEG
    if tx == 0 and ty == 7:
        tile[9, 0] = x[row + 1, column - 1] if row + 1 < rows and column > 0 else NEG
    if tx == 31 and ty == 7:
        tile[9, 33] = x[row + 1, column + 1] if row + 1 < rows and column + 1 < cols else NEG
    cuda.syncthreads()
    if row < x.shape[0] and column < x.shape[1]:
        best = tile[ty, tx]
        for y in range(3):
            for k in range(3):
                best = max(best, tile[ty + y, tx + k])
        out[row, column] = best
""",
    ),
    (
        "rows first, then columns",
        """@cuda.jit
def pool(x, out):
    tile = cuda.shared.array((10, 34), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    top, left = row - ty - 1, column - tx - 1
    for y in range(ty, 10, 8):
        for k in range(tx, 34, 32):
            r, c = min(max(top + y, 0), x.shape[0] - 1), min(max(left + k, 0), x.shape[1] - 1)
            tile[y, k] = x[r, c]
    cuda.syncthreads()
    rowmax = cuda.shared.array((10, 32), 'float32')
    for y in range(ty, 10, 8):
        rowmax[y, tx] = max(tile[y, tx], max(tile[y, tx + 1], tile[y, tx + 2]))
    cuda.syncthreads()
    if row < x.shape[0] and column < x.shape[1]:
        out[row, column] = max(rowmax[ty, tx], rowmax[ty + 1, tx], rowmax[ty + 2, tx])
""",
    ),
]
