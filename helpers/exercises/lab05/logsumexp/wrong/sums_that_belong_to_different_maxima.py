@cuda.jit
def logsumexp(x, out):
    """Store log Σ exp of each row of x; a warp has a row, a block four warps."""
    lane, row = cuda.threadIdx.x % 32, cuda.grid(1) // 32
    if row < x.shape[0]:
        m, d = x[row, 0], np.float32(0)
        for i in range(lane, x.shape[1], 32): m = max(m, x[row, i])
        for k in (16, 8, 4, 2, 1): m = max(m, cuda.shfl_down_sync(0xFFFFFFFF, m, k))
        for i in range(lane, x.shape[1], 32): d += math.exp(x[row, i] - m)
        for k in (16, 8, 4, 2, 1): d += cuda.shfl_down_sync(0xFFFFFFFF, d, k)
        if lane == 0: out[row] = m + math.log(d)
