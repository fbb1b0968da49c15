@cuda.jit
def layer_norm_backward(x, grad, weight, mean, rstd, dx):
    """Store the gradient of x, from that of the result and what the forward pass kept; a block has a row."""
    row, normal = cuda.shared.array(1024, "float32"), cuda.shared.array(1024, "float32")
    part = cuda.shared.array(8, "float32")
    t, r, n = cuda.threadIdx.x, cuda.blockIdx.x, x.shape[1]
    plain, along = np.float32(0), np.float32(0)
    for i in range(t, n, 256):
        row[i] = grad[r, i] * weight[i]
        normal[i] = (x[r, i] - mean[r]) * rstd[r]
        plain += row[i]
        along += row[i] * normal[i]
    for k in (16, 8, 4, 2, 1):
        plain += cuda.shfl_xor_sync(0xFFFFFFFF, plain, k)
        along += cuda.shfl_xor_sync(0xFFFFFFFF, along, k)
    part[t // 32] = plain
    cuda.syncthreads()
    plain = np.float32(0)
    for w in range(8): plain += part[w]
    cuda.syncthreads()
    part[t // 32] = along
    cuda.syncthreads()
    along = np.float32(0)
    for w in range(8): along += part[w]
    for i in range(t, n, 256): dx[r, i] = rstd[r] * (row[i] - (plain + normal[i] * along) / n)
