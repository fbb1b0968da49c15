@cuda.jit
def layer_norm_backward(x, grad, weight, mean, rstd, dx):
    scaled, away = cuda.shared.array(1024, "float32"), cuda.shared.array(1024, "float32")
    one, other = cuda.shared.array(8, "float32"), cuda.shared.array(8, "float32")
    t, r = cuda.threadIdx.x, cuda.blockIdx.x
    a = b = np.float32(0)
    for i in range(t, x.shape[1], cuda.blockDim.x):
        scaled[i], away[i] = weight[i] * grad[r, i], x[r, i] - mean[r]
        a, b = a + scaled[i], b + scaled[i] * away[i]
    for k in (1, 2, 4, 8, 16):
        a += cuda.shfl_xor_sync(0xFFFFFFFF, a, k)
        b += cuda.shfl_xor_sync(0xFFFFFFFF, b, k)
    if cuda.laneid == 31:
        one[t // 32], other[t // 32] = a, b
    cuda.syncthreads()
    a = b = np.float32(0)
    for w in range(8):
        a, b = a + one[w], b + other[w]
    s = rstd[r]
    for i in range(t, x.shape[1], cuda.blockDim.x):
        dx[r, i] = s * scaled[i] - s * a / x.shape[1] - s * s * s * away[i] * b / x.shape[1]
