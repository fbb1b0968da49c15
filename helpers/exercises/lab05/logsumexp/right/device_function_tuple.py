@cuda.jit(device=True)
def merge(m1, d1, m2, d2):
    m = max(m1, m2)
    return m, d1 * math.exp(m1 - m) + d2 * math.exp(m2 - m)


@cuda.jit
def logsumexp(x, out):
    warp, lane = divmod(cuda.threadIdx.x, 32)
    row = cuda.blockIdx.x * 4 + warp
    if row >= x.shape[0]:
        return
    m, d = np.float32(-1e30), np.float32(0)
    for i in range(lane, x.shape[1], cuda.warpsize):
        m, d = merge(m, d, x[row, i], np.float32(1))
    for k in range(5):
        m, d = merge(m, d, cuda.shfl_xor_sync(-1, m, 1 << k), cuda.shfl_xor_sync(-1, d, 1 << k))
    if lane == 0:
        out[row] = m + math.log(d)
