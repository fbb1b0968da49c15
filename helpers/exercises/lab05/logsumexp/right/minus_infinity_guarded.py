@cuda.jit
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
