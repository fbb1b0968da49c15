"""Wrong answers to lab05.logsumexp."""

KEY = "lab05.logsumexp"

RIGHT = """
@cuda.jit
def logsumexp(x, out):
    lane, row = cuda.threadIdx.x % 32, cuda.grid(1) // 32
    if row < x.shape[0]:
        m, d = x[row, 0], np.float32(0)
        for i in range(lane, x.shape[1], 32):
            v = x[row, i]
            big = max(m, v)
            d = d * math.exp(m - big) + math.exp(v - big)
            m = big
        for k in (16, 8, 4, 2, 1):
            m2, d2 = cuda.shfl_xor_sync(0xFFFFFFFF, m, k), cuda.shfl_xor_sync(0xFFFFFFFF, d, k)
            big = max(m, m2)
            d = d * math.exp(m - big) + d2 * math.exp(m2 - big)
            m = big
        if lane == 0:
            out[row] = m + math.log(d)
"""
START, GUARD = "m, d = x[row, 0], np.float32(0)", "if row < x.shape[0]:"
LOOP = RIGHT[RIGHT.index("        for i in") : RIGHT.index("        for k in")]
JOIN = RIGHT[RIGHT.index("        for k in") : RIGHT.index("        if lane == 0")]
TWICE = """        for i in range(lane, x.shape[1], 32):
            m = max(m, x[row, i])
        for k in (16, 8, 4, 2, 1):
            m = max(m, cuda.shfl_xor_sync(0xFFFFFFFF, m, k))
        for i in range(lane, x.shape[1], 32):
            d += math.exp(x[row, i] - m)
        for k in (16, 8, 4, 2, 1):
            d += cuda.shfl_xor_sync(0xFFFFFFFF, d, k)
"""
SHARED = """        s = cuda.shared.array(128, "float32")
        t = cuda.threadIdx.x
        m_warp = m
        for k in (16, 8, 4, 2, 1):
            m_warp = max(m_warp, cuda.shfl_xor_sync(0xFFFFFFFF, m_warp, k))
        s[t] = d * math.exp(m - m_warp)
        m = m_warp
        cuda.syncwarp()
        if lane == 0:
            d = np.float32(0)
            for k in range(32):
                d += s[t + k]
"""


def but(old: str, new: str, text: str = RIGHT) -> str:
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(RIGHT[RIGHT.index("    lane, row") :], "    pass\n"), "nothing is written yet"),
    (
        "shuffles in the loop over columns",
        but("            v = x[row, i]\n", "            v = cuda.shfl_xor_sync(0xFFFFFFFF, x[row, i], 0)\n"),
        "a shuffle that not all lanes reach",
    ),
    ("no guard", but(GUARD, "if row >= 0:"), "no guard for the last rows"),
    ("from minus infinity", but(START, "m, d = np.float32(-math.inf), np.float32(0)"), "minus infinity minus itself"),
    (
        "no maximum",
        but(START, "m, d = np.float32(0), np.float32(0)")
        .replace("big = max(m, v)", "big = m")
        .replace("big = max(m, m2)", "big = m"),
        "the exponential overflows",
    ),
    (
        "sums added as they are",
        but("d * math.exp(m - big) + d2 * math.exp(m2 - big)", "d + d2"),
        "sums that belong to different maxima",
    ),
    (
        "no loop",
        but("range(lane, x.shape[1], 32)", "range(lane, min(32, x.shape[1]), 32)"),
        "only the first 32 columns",
    ),
    ("no shuffles", but(JOIN, ""), "lane 0 knows only itself"),
    (
        "one lane does it all",
        but(JOIN, "").replace("range(lane, x.shape[1], 32)", "range(0 if lane == 0 else x.shape[1], x.shape[1])"),
        "lanes that do not read neighbours",
    ),
    (
        "a thread a row",
        but(JOIN, "")
        .replace(
            "lane, row = cuda.threadIdx.x % 32, cuda.grid(1) // 32",
            "lane, row = 0, cuda.blockIdx.x * 4 + cuda.threadIdx.x",
        )
        .replace(GUARD, "if row < x.shape[0] and cuda.threadIdx.x < 4:")
        .replace(", 32):", "):"),
        "lanes that do not read neighbours",
    ),
    (
        "a piece for each lane",
        but("range(lane, x.shape[1], 32)", "range(lane * each, min(x.shape[1], (lane + 1) * each))").replace(
            "    if row <", "    each = (x.shape[1] + 31) // 32\n    if row <"
        ),
        "lanes that do not read neighbours",
    ),
    ("two passes", but(LOOP, TWICE).replace(JOIN, ""), "every element is loaded twice"),
    ("through shared memory", but(JOIN, SHARED), "a detour through shared memory"),
    (
        "through shared memory, and no order",
        but(JOIN, SHARED).replace("        cuda.syncwarp()\n", ""),
        "a barrier is missing",
    ),
    (
        "half of the shared memory is filled",
        but(JOIN, SHARED).replace("        s[t] =", "        if lane < 16:\n            s[t] ="),
        "shared memory that nobody has written",
    ),
    (
        "the public widths only",
        but(GUARD, "if row < x.shape[0] and x.shape[1] in (1, 31, 97, 32, 501, 1024):"),
        "the end is not written",
    ),
    ("rows and columns swapped", but("v = x[row, i]", "v = x[i, row]"), "an index that leaves the array"),
    (
        "a row for the block",
        but("range(lane, x.shape[1], 32)", "range(cuda.threadIdx.x, x.shape[1], 128)"),
        "a warp has only part of its row",
    ),
    ("the greatest begins at 0", but(START, "m, d = np.float32(0), np.float32(0)"), "the greatest begins at 0"),
    ("no maximum at the end", but("m + math.log(d)", "math.log(d)"), "the greatest is not added back"),
    ("the sum begins at 1", but(START, "m, d = x[row, 0], np.float32(1)"), "the sum begins at 1"),
    (
        "sums never scaled in a lane",
        but("d = d * math.exp(m - big) + math.exp(v - big)", "d = d + math.exp(v - big)"),
        "the sum is not scaled when a greater element comes",
    ),
    (
        "sums scaled the wrong way",
        but("d = d * math.exp(m - big) + math.exp(v", "d = d * math.exp(big - m) + math.exp(v"),
        "the sum is not scaled when a greater element comes",
    ),
    (
        "the greatest not kept in a lane",
        but("math.exp(v - big)\n            m = big\n", "math.exp(v - big)\n"),
        "the sum is not scaled when a greater element comes",
    ),
    ("four shuffles", but("(16, 8, 4, 2, 1)", "(16, 8, 4, 2)"), "some lanes never reach lane 0"),
    (
        "shuffles among the lower half",
        but("        for k in (16", "        if lane >= 16:\n            return\n        for k in (16"),
        "a shuffle that not all lanes reach",
    ),
    (
        "a barrier for warps that have a row",
        but(JOIN, SHARED.replace("syncwarp", "syncthreads")),
        "threads that never come to the barrier",
    ),
    (
        "one warp does it all",
        but(GUARD, "for row in range(x.shape[0] if row == 0 else 0):"),
        "few do the work of all",
    ),
    (
        "the first element in place of the greatest",
        but("big = max(m, v)", "big = m").replace("big = max(m, m2)", "big = m"),
        "the exponential overflows",
    ),
    ("the least", RIGHT.replace("max(", "min("), "the exponential overflows"),
    (
        "an element of out for each thread",
        but("        if lane == 0:\n            out[row]", "        out[cuda.grid(1)]"),
        "out has an element for each row",
    ),
    ("a row for each block", but("cuda.grid(1) // 32", "cuda.blockIdx.x"), "warps that share a row"),
    ("the warp in its block", but("cuda.grid(1) // 32", "cuda.threadIdx.x // 32"), "warps that share a row"),
    ("stored by the lane", but("out[row] =", "out[lane] ="), "warps that share a row"),
    (
        "the greatest of two joined first",
        but(
            "m2, d2 = cuda.shfl_xor_sync(0xFFFFFFFF, m, k), cuda",
            "m2 = cuda.shfl_xor_sync(0xFFFFFFFF, m, k)\n            m = max(m, m2)\n            d2 = cuda",
        ),
        "sums that belong to different maxima",
    ),
    (
        "scaled by the other",
        but("d2 * math.exp(m2 - big)", "d2 * math.exp(m - big)"),
        "sums that belong to different maxima",
    ),
    (
        "the greatest reaches lane 0 alone",
        but(LOOP, TWICE.replace("shfl_xor", "shfl_down")).replace(JOIN, ""),
        "sums that belong to different maxima",
    ),
    (
        "the greater one not kept",
        but(JOIN, JOIN.replace("            m = big\n", "")),
        "the greater one is not kept when pairs join",
    ),
    ("from 32 on", but("(16, 8", "(32, 16, 8"), "everything is counted twice"),
    ("the greatest", but("m + math.log(d)", "m"), "the greatest alone"),
    ("no logarithm", but("math.log(d)", "d"), "the logarithm is missing"),
    ("log2", but("math.log(d)", "math.log2(d)"), "another logarithm"),
    ("a mask of 16 lanes", RIGHT.replace("0xFFFFFFFF", "0x0000FFFF"), "a mask without the lane itself"),
    (
        "the lane's place for all warps",
        but(JOIN, SHARED.replace("s[t] =", "s[lane] =")),
        "several threads store to one place",
    ),
]
