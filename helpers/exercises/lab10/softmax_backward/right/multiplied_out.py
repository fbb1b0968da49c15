@cuda.jit
def softmax_backward(p, grad, dx, scale):
    lane, row = cuda.threadIdx.x % 32, cuda.grid(1) // 32
    if row < p.shape[0]:
        mine = np.float32(0)
        for i in range(lane, p.shape[1], 32):
            mine = mine + p[row, i] * grad[row, i]
        for k in (16, 8, 4, 2, 1):
            mine += cuda.shfl_xor_sync(0xFFFFFFFF, mine, k)
        mine *= scale
        for i in range(lane, p.shape[1], 32):
            dx[row, i] = scale * p[row, i] * grad[row, i] - p[row, i] * mine
