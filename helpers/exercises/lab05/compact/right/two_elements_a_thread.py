@cuda.jit
def compact(x, out):
    s = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane, w = t % 32, t // 32
    below = (1 << lane) - 1
    carried = 0
    first = 0
    while first < x.size:
        a0 = first + w * 64 + lane
        v0 = x[a0] if a0 < x.size else np.float32(0)
        v1 = x[a0 + 32] if a0 + 32 < x.size else np.float32(0)
        b0 = cuda.ballot_sync(0xFFFFFFFF, v0 > 0)
        b1 = cuda.ballot_sync(0xFFFFFFFF, v1 > 0)
        c0 = cuda.popc(b0)
        if lane == 0:
            s[w] = c0 + cuda.popc(b1)
        cuda.syncthreads()
        p = carried
        for k in range(8):
            if k < w:
                p += s[k]
            carried += s[k]
        cuda.syncthreads()
        if v0 > 0:
            out[p + cuda.popc(b0 & below)] = v0
        if v1 > 0:
            out[p + c0 + cuda.popc(b1 & below)] = v1
        first += 512
