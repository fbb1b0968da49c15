import numpy as np

@cuda.jit
def argmax(x, out):
    s = cuda.shared.array(4, np.int64)
    t = cuda.threadIdx.x
    m = np.int64(np.iinfo(np.int64).min)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        m = max(m, np.int64(x[i]) << 32 | (0x7FFFFFFF - i))
    for d in (16, 8, 4, 2, 1):
        m = max(m, cuda.shfl_down_sync(0xffffffff, m, d))
    if t % 32 == 0:
        s[t // 32] = m
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.max(out, 0, max(max(s[0], s[1]), max(s[2], s[3])))
