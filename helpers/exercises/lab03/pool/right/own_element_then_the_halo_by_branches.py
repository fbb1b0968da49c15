@cuda.jit
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
