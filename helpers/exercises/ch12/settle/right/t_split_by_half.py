@cuda.jit
def settle(x, out):
    t = cuda.threadIdx.x
    half = cuda.blockDim.x // 2
    even = t < half
    k = t if even else t - half
    row = cuda.blockIdx.x * 16 + 2 * (k // 16) + (0 if even else 1)
    col = k & 15
    if row >= x.shape[0]:
        return
    value = x[row, col]
    if even:
        r = value
        for _ in range(40):
            r = value / (value + r)
        out[row, col] = r
    else:
        out[row, col] = value
