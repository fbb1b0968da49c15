@cuda.jit
def compact(x, out):
    s = cuda.shared.array((2, 8), np.int32)
    t = cuda.threadIdx.x
    carried = 0
    which = 0
    for first in range(0, x.size, 256):
        i = first + t
        v = x[i] if i < x.size else np.float32(-1)
        keep = v > 0
        bits = cuda.ballot_sync(0xFFFFFFFF, keep)
        if t % 32 == 0:
            s[which, t // 32] = cuda.popc(bits)
        cuda.syncthreads()
        place = carried
        for w in range(8):
            n = s[which, w]
            if w < t // 32:
                place += n
            carried += n
        if keep:
            out[place + cuda.popc(bits & ((np.uint32(1) << np.uint32(t % 32)) - np.uint32(1)))] = v
        which ^= 1
