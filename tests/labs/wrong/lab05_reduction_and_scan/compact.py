"""Wrong answers to lab05.compact."""

KEY = "lab05.compact"

RIGHT = """
@cuda.jit
def compact(x, out):
    s = cuda.shared.array(8, "int32")
    t, carried = cuda.threadIdx.x, 0
    for first in range(0, x.size, 256):
        v = x[first + t] if first + t < x.size else np.float32(0)
        bits = cuda.ballot_sync(0xFFFFFFFF, v > 0)
        if t % 32 == 0:
            s[t // 32] = cuda.popc(bits)
        cuda.syncthreads()
        place = carried + cuda.popc(bits & ((1 << t % 32) - 1))
        for warp in range(8):
            place += s[warp] if warp < t // 32 else 0
            carried += s[warp]
        cuda.syncthreads()
        if v > 0:
            out[place] = v
"""
BODY = RIGHT[RIGHT.index("    s = cuda") :]
ATOMIC = """    s = cuda.shared.array(1, "int32")
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    for i in range(t, x.size, 256):
        v = x[i]
        if v > 0:
            out[cuda.atomic.add(s, 0, 1)] = v
        cuda.syncthreads()
""".replace(
    "    for i in range(t, x.size, 256):\n        v = x[i]\n",
    "    for first in range(0, x.size, 256):\n        v = x[first + t] if first + t < x.size else np.float32(0)\n",
)
PIECES = """    s = cuda.shared.array(256, "int32")
    t, each = cuda.threadIdx.x, (x.size + 255) // 256
    mine = 0
    for i in range(t * each, min(x.size, (t + 1) * each)):
        mine += x[i] > 0
    s[t] = mine
    cuda.syncthreads()
    place = 0
    for k in range(t):
        place += s[k]
    for i in range(t * each, min(x.size, (t + 1) * each)):
        if x[i] > 0:
            out[place] = x[i]
            place += 1
"""
SCAN = """    s = cuda.shared.array(256, "int32")
    t, carried = cuda.threadIdx.x, 0
    for first in range(0, x.size, 256):
        v = x[first + t] if first + t < x.size else np.float32(0)
        s[t] = 1 if v > 0 else 0
        cuda.syncthreads()
        d = 1
        while d < 256:
            left = s[t - d] if t >= d else 0
            cuda.syncthreads()
            s[t] += left
            cuda.syncthreads()
            d *= 2
        if v > 0:
            out[carried + s[t] - 1] = v
        carried += s[255]
        cuda.syncthreads()
"""
ONE_WARP = """    t, carried = cuda.threadIdx.x, 0
    if t < 32:
        for first in range(0, x.size, 32):
            v = x[first + t] if first + t < x.size else np.float32(0)
            bits = cuda.ballot_sync(0xFFFFFFFF, v > 0)
            if v > 0:
                out[carried + cuda.popc(bits & ((1 << t) - 1))] = v
            carried += cuda.popc(bits)
"""


def but(old: str, new: str, text: str = RIGHT) -> str:
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, "    pass\n"), "nothing is kept yet"),
    (
        "a ballot among those with an element",
        but("cuda.ballot_sync(0xFFFFFFFF, v > 0)", "cuda.ballot_sync(0xFFFFFFFF, v > 0) if first + t < x.size else 0"),
        "a shuffle that not all lanes reach",
    ),
    (
        "gone before the last round ends",
        but(
            "        v = x[first + t] if",
            "        if first + t >= x.size:\n            break\n        v = x[first + t] if",
        ),
        "threads that never come to the barrier",
    ),
    ("the first warp alone stores", but("if t % 32 == 0:", "if t == 0:"), "shared memory that nobody has written"),
    ("no barrier before reading", but("        cuda.syncthreads()\n", ""), "a barrier is missing"),
    (
        "no barrier before the next round",
        but("        cuda.syncthreads()\n        if v", "        if v"),
        "a barrier is missing",
    ),
    (
        "each warp begins at 0",
        but("place += s[warp] if warp < t // 32 else 0", "place += 0"),
        "two elements in one place",
    ),
    ("left where it stood", but("out[place] = v", "out[first + t] = v"), "holes are left"),
    ("nothing carried", but("            carried += s[warp]\n", ""), "each round begins at 0"),
    ("no loop", but("range(0, x.size, 256)", "range(0, min(x.size, 256), 256)"), "only the first 256"),
    ("zeros too", but("else np.float32(0)", "else np.float32(-1)").replace("v > 0", "v >= 0"), "zeros are kept"),
    ("an atomic a thread", but(BODY, ATOMIC), "places from an atomic"),
    ("loaded again", but("out[place] = v", "out[place] = x[first + t]"), "loaded, and loaded again"),
    (
        "one thread does it all",
        but(
            BODY,
            "    place = 0\n    if cuda.threadIdx.x == 0:\n        for i in range(x.size):\n            v = "
            "x[i]\n            if v > 0:\n                out[place] = v\n                place += 1\n",
        ),
        "lanes that do not read neighbours",
    ),
    ("a piece for each thread", but(BODY, PIECES), "lanes that do not read neighbours"),
    ("a scan in shared memory", but(BODY, SCAN), "barriers at every step"),
    (
        "the public sizes only",
        but("if v > 0:", "if v > 0 and x.size in (1, 31, 97, 256, 257, 1021, 3001):"),
        "right in the public cases only",
    ),
    ("its own bit too", but("(1 << t % 32) - 1", "(2 << t % 32) - 1"), "a place too far on"),
    ("room for four warps", but("array(8,", "array(4,"), "the shared array is too short"),
    (
        "no guard",
        but("x[first + t] if first + t < x.size else np.float32(0)", "x[first + t]"),
        "no guard for the last round",
    ),
    ("rounds rounded down", but("range(0, x.size, 256)", "range(0, x.size // 256 * 256, 256)"), "whole rounds only"),
    (
        "gone when it has nothing to keep",
        but(
            "            out[place] = v\n",
            "            out[place] = v\n        elif first + 256 > x.size:\n            return\n"
            "        cuda.syncthreads()\n",
        ),
        "threads that never come to the barrier",
    ),
    ("one warp does it all", but(BODY, ONE_WARP), "few do the work of all"),
    ("the negative ones", RIGHT.replace("v > 0", "v < 0"), "the negative ones are kept"),
    (
        "256 places for each round",
        but("            carried += s[warp]\n", "") + "        carried += 256\n",
        "holes are left",
    ),
    (
        "an atomic for each warp",
        but(
            BODY,
            """    s = cuda.shared.array(1, "int32")
    t = cuda.threadIdx.x
    lane = t % 32
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    for first in range(0, x.size, 256):
        v = x[first + t] if first + t < x.size else np.float32(0)
        bits = cuda.ballot_sync(0xFFFFFFFF, v > 0)
        base = 0
        if lane == 0:
            base = cuda.atomic.add(s, 0, cuda.popc(bits))
        base = cuda.shfl_sync(0xFFFFFFFF, base, 0)
        if v > 0:
            out[base + cuda.popc(bits & ((1 << lane) - 1))] = v
""",
        ),
        "the order is that of arrival",
    ),
    (
        "a walk to each place",
        but(
            BODY,
            """    for i in range(cuda.threadIdx.x, x.size, 256):
        if x[i] > 0:
            place = 0
            for j in range(i):
                place += 1 if x[j] > 0 else 0
            out[place] = x[i]
""",
        ),
        "everything before is counted anew",
    ),
    ("a mask of 16 lanes", but("0xFFFFFFFF", "0x0000FFFF"), "a mask without the lane itself"),
]
