@cuda.jit
def compact(x, out):
    s = cuda.shared.array(8, np.int32)
    buf = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    carried = 0
    for first in range(0, x.size, 256):
        v = x[first + t] if first + t < x.size else np.float32(0)
        bits = cuda.ballot_sync(0xFFFFFFFF, v > 0)
        if t % 32 == 0:
            s[t // 32] = cuda.popc(bits)
        cuda.syncthreads()
        place = cuda.popc(bits & ((1 << t % 32) - 1))
        n = 0
        for warp in range(8):
            place += s[warp] if warp < t // 32 else 0
            n += s[warp]
        if v > 0:
            buf[place] = v
        cuda.syncthreads()
        if t < n:
            out[carried + t] = buf[t]
        carried += n
