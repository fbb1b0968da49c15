@cuda.jit
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
