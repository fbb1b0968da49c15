@cuda.jit
def softmax_backward(p, grad, dx, scale):
    lane, row = cuda.laneid, cuda.blockIdx.x * 4 + cuda.threadIdx.x // 32
    if row >= p.shape[0]:
        return
    dot, i = np.float32(0), lane
    while i < p.shape[1]:
        dot += grad[row, i] * p[row, i]
        i += 32
    for k in (1, 2, 4, 8, 16):
        dot += cuda.shfl_down_sync(0xFFFFFFFF, dot, k)
    dot = cuda.shfl_sync(0xFFFFFFFF, dot, 0)
    for i in range(lane, p.shape[1], 32):
        dx[row, i] = (grad[row, i] - dot) * p[row, i] * scale
