@cuda.jit
def lower(x, out):
    warps = cuda.shared.array(4, "int32")
    t = cuda.threadIdx.x
    lane, w = t % 32, t // 32
    for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
        m = np.int32(2147483647)
        for i in range(t, x.shape[1], 128):
            m = min(m, x[row, i])
        off = 16
        while off > 0:
            m = min(m, cuda.shfl_down_sync(0xffffffff, m, off))
            off //= 2
        if lane == 0:
            warps[w] = m
        cuda.syncthreads()
        low = min(min(warps[0], warps[1]), min(warps[2], warps[3]))
        for i in range(t, x.shape[1], 128):
            out[row, i] = x[row, i] - low
        cuda.syncthreads()
