@cuda.jit
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
