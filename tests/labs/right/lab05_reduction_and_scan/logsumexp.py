"""Right answers to lab05.logsumexp by routes other than the solution's."""

KEY = "lab05.logsumexp"

ROWS = [
    # which way, the solution cell
    (
        "branch when greater",
        """@cuda.jit
def logsumexp(x, out):
    lane, row = cuda.threadIdx.x % 32, cuda.grid(1) // 32
    if row < x.shape[0]:
        m, d = x[row, 0], np.float32(0)
        for i in range(lane, x.shape[1], 32):
            v = x[row, i]
            if v > m:
                d = d * math.exp(m - v) + np.float32(1)
                m = v
            else:
                d += math.exp(v - m)
        for k in (16, 8, 4, 2, 1):
            m2, d2 = cuda.shfl_xor_sync(0xFFFFFFFF, m, k), cuda.shfl_xor_sync(0xFFFFFFFF, d, k)
            big = max(m, m2)
            d = d * math.exp(m - big) + d2 * math.exp(m2 - big)
            m = big
        if lane == 0:
            out[row] = m + math.log(d)
""",
    ),
    (
        "an early return, and shuffles down",
        """@cuda.jit
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
""",
    ),
    (
        "device function tuple",
        """@cuda.jit(device=True)
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
""",
    ),
    (
        "minus infinity, guarded",
        """@cuda.jit
def logsumexp(x, out):
    lane, row = cuda.threadIdx.x % 32, cuda.grid(1) // 32
    if row < x.shape[0]:
        m, d = -math.inf, 0.0
        for i in range(lane, x.shape[1], 32):
            v = x[row, i]
            big = max(m, v)
            d = (d * math.exp(m - big) if d > 0 else 0.0) + math.exp(v - big)
            m = big
        for k in (16, 8, 4, 2, 1):
            m2, d2 = cuda.shfl_xor_sync(0xFFFFFFFF, m, k), cuda.shfl_xor_sync(0xFFFFFFFF, d, k)
            big = max(m, m2)
            if big > -math.inf:
                d = d * math.exp(m - big) + d2 * math.exp(m2 - big)
            m = big
        if lane == 0:
            out[row] = m + math.log(d)
""",
    ),
    (
        "one value for each lane",
        """@cuda.jit
def logsumexp(x, out):
    lane, row = cuda.threadIdx.x % 32, cuda.grid(1) // 32
    if row < x.shape[0]:
        acc = np.float32(-1e30)
        for i in range(lane, x.shape[1], 32):
            v = x[row, i]
            hi = max(acc, v)
            acc = hi + math.log1p(math.exp(min(acc, v) - hi))
        for k in (16, 8, 4, 2, 1):
            v = cuda.shfl_xor_sync(0xFFFFFFFF, acc, k)
            hi = max(acc, v)
            acc = hi + math.log1p(math.exp(min(acc, v) - hi))
        if lane == 0:
            out[row] = acc
""",
    ),
]
