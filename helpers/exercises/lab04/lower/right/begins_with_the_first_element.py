@cuda.jit
def lower(x, out):
    least = cuda.shared.array(1, "int32")
    t = cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
        if t == 0:
            least[0] = x[row, 0]
        cuda.syncthreads()
        mine = x[row, 0]
        for i in range(t, x.shape[1], cuda.blockDim.x):
            mine = min(mine, x[row, i])
        cuda.atomic.min(least, 0, mine)
        cuda.syncthreads()
        for i in range(t, x.shape[1], cuda.blockDim.x):
            out[row, i] = x[row, i] - least[0]
        cuda.syncthreads()
