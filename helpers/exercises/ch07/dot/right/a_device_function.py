import numpy as np
@cuda.jit(device=True)
def warp_sum(v):
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xffffffff, v, d)
    return v
@cuda.jit
def dot(x, y, out):
    s = cuda.shared.array(32, dtype=np.float64)
    start, stride = cuda.grid(1), cuda.gridsize(1)
    v = 0.0
    for k in range(start, x.size, stride):
        v += np.float64(x[k]) * np.float64(y[k])
    v = warp_sum(v)
    lane, wid = cuda.laneid, cuda.threadIdx.x // cuda.warpsize
    if lane == 0:
        s[wid] = v
    cuda.syncthreads()
    if wid == 0:
        v = s[lane] if lane < cuda.blockDim.x // 32 else 0.0
        v = warp_sum(v)
        if lane == 0:
            cuda.atomic.add(out, 0, v)
