@cuda.jit
def layer_norm_backward(x, grad, weight, mean, rstd, dx):
    part = cuda.shared.array(16, "float32")
    g, z = cuda.local.array(4, "float32"), cuda.local.array(4, "float32")
    t, r, n = cuda.threadIdx.x, cuda.blockIdx.x, x.shape[1]
    plain = along = np.float32(0)
    for k in range(4):
        g[k] = z[k] = 0
        if t + 256 * k < n:
            g[k] = grad[r, t + 256 * k] * weight[t + 256 * k]
            z[k] = (x[r, t + 256 * k] - mean[r]) * rstd[r]
        plain += g[k]
        along += g[k] * z[k]
    for k in (16, 8, 4, 2, 1):
        plain += cuda.shfl_down_sync(0xFFFFFFFF, plain, k)
        along += cuda.shfl_down_sync(0xFFFFFFFF, along, k)
    if t % 32 == 0:
        part[t // 32], part[8 + t // 32] = plain, along
    cuda.syncthreads()
    plain = along = np.float32(0)
    for w in range(8):
        plain += part[w]
        along += part[8 + w]
    for k in range(4):
        if t + 256 * k < n:
            dx[r, t + 256 * k] = rstd[r] * (g[k] - plain / n - z[k] * (along / n))
