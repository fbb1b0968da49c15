@cuda.jit
def compact(x, out):
    s = cuda.shared.array(9, np.int32)
    carry = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    if t == 0:
        carry[0] = 0
    for first in range(0, x.size, 256):
        v = np.float32(0)
        if first + t < x.size:
            v = x[first + t]
        bits = cuda.ballot_sync(0xFFFFFFFF, v > 0)
        if lane == 0:
            s[warp] = cuda.popc(bits)
        cuda.syncthreads()
        if t == 0:
            run = carry[0]
            for w in range(8):
                c = s[w]
                s[w] = run
                run += c
            carry[0] = run
        cuda.syncthreads()
        if v > 0:
            out[s[warp] + cuda.popc(bits & ((1 << lane) - 1))] = v
        cuda.syncthreads()
