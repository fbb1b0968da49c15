@cuda.jit
def sides(x, out):
    t = cuda.threadIdx.x
    warp, lane = divmod(t, 32)
    odd = warp % 2
    i = cuda.blockIdx.x * cuda.blockDim.x + (warp // 2) * 64 + 2 * lane + odd
    if i >= x.size:
        return
    v = x[i]
    if odd == 1:
        for _ in range(64):
            v = 1.01 * v - 1.0
    else:
        for _ in range(64):
            v = 0.99 * v + 1.0
    out[i] = v
