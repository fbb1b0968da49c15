@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(4, "float32")
    t, total = cuda.threadIdx.x, 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i] * y[i]
    for d in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
    if t % 32 == 0:
        s[t // 32] = total
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, s[0] + s[1] + s[2] + s[3])
