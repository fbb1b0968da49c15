@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((32, 33), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, ty]
