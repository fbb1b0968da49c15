@cuda.jit
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
