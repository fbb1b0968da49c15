"""Right answers to lab05.compact by routes other than the solution's."""

KEY = "lab05.compact"

ROWS = [
    # which way, the solution cell
    (
        "shuffle scan of counts",
        """@cuda.jit
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
""",
    ),
    (
        "two buffers, one barrier a round",
        """@cuda.jit
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
""",
    ),
    (
        "warp 0 scans with shared carried",
        """@cuda.jit
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
""",
    ),
    (
        "two elements a thread",
        """@cuda.jit
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
""",
    ),
    (
        "staged in shared then coalesced store",
        """@cuda.jit
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
""",
    ),
]
