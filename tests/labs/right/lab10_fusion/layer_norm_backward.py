"""Right answers to lab10.layer_norm_backward by routes other than the solution's."""

KEY = "lab10.layer_norm_backward"

ROWS = [
    # which way, the solution cell
    (
        "four elements in registers, the sums in one array",
        """@cuda.jit
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
            dx[r, t + 256 * k] = rstd[r] * (g[k] - plain / n - z[k] * (along / n))""",
    ),
    (
        "the differences in shared memory, the deviation taken in at the end",
        """@cuda.jit
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
        dx[r, i] = s * scaled[i] - s * a / x.shape[1] - s * s * s * away[i] * b / x.shape[1]""",
    ),
]
