@cuda.jit
def roles(x, out, rounds):
    role = cuda.blockIdx.x % 2
    i = cuda.blockIdx.x // 2 * cuda.blockDim.x + cuda.threadIdx.x
    if i >= x.size:
        return
    v = x[i]
    if role == 0:
        for _ in range(3 * rounds):
            v = np.float32(0.75) * v + np.float32(1)
    else:
        for _ in range(rounds):
            v = np.float32(0.5) * v - x[i]
    out[role, i] = v
