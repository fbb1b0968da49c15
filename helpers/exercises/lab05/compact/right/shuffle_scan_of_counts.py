@cuda.jit
def compact(x, out):
    s = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    lane = t & 31
    warp = t >> 5
    base = 0
    rounds = (x.size + 255) // 256
    for r in range(rounds):
        i = r * 256 + t
        keep = 0
        v = np.float32(0)
        if i < x.size:
            v = x[i]
            if v > 0:
                keep = 1
        c = keep
        d = 1
        while d < 32:
            y = cuda.shfl_up_sync(0xFFFFFFFF, c, d)
            if lane >= d:
                c += y
            d *= 2
        if lane == 31:
            s[warp] = c
        cuda.syncthreads()
        before = 0
        total = 0
        for w in range(8):
            if w < warp:
                before += s[w]
            total += s[w]
        if keep:
            out[base + before + c - 1] = v
        base += total
        cuda.syncthreads()
