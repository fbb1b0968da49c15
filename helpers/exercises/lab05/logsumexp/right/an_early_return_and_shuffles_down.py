@cuda.jit
def logsumexp(x, out):
    lane = cuda.laneid
    row = cuda.blockIdx.x * (cuda.blockDim.x // 32) + cuda.threadIdx.x // 32
    rows, cols = x.shape
    if row >= rows:
        return
    m = np.float32(-3.0e38)
    d = np.float32(0.0)
    i = lane
    while i < cols:
        v = x[row, i]
        if v > m:
            d *= math.exp(m - v)
            m = v
        d += math.exp(v - m)
        i += 32
    offset = 16
    while offset > 0:
        om = cuda.shfl_down_sync(0xFFFFFFFF, m, offset)
        od = cuda.shfl_down_sync(0xFFFFFFFF, d, offset)
        nm = max(m, om)
        d = d * math.exp(m - nm) + od * math.exp(om - nm)
        m = nm
        offset //= 2
    if lane == 0:
        out[row] = math.log(d) + m
