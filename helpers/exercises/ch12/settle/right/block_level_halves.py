@cuda.jit
def settle(x, out):
    t = cuda.threadIdx.x
    warp, lane = divmod(t, 32)
    first = cuda.blockIdx.x * 16
    odd = warp // 4
    row = first + 4 * (warp % 4) + 2 * (lane // 16) + odd
    column = lane % 16
    if row < x.shape[0]:
        v = x[row, column]
        r = v
        if not odd:
            for _ in range(40):
                r = v / (v + r)
        out[row, column] = r
