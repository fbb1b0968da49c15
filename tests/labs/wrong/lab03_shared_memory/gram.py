"""Wrong answers to lab03.gram."""

KEY = "lab03.gram"

RIGHT = """
@cuda.jit
def gram(a, out):
    left, right = cuda.shared.array((32, 17), "float32"), cuda.shared.array((32, 17), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, side = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    s00 = s01 = s10 = s11 = np.float32(0)
    for first in range(0, a.shape[1], 16):
        k = first + x
        for r in range(y, 32, 16):
            left[r, x] = a[top + r, k] if top + r < a.shape[0] and k < a.shape[1] else 0
            right[r, x] = a[side + r, k] if side + r < a.shape[0] and k < a.shape[1] else 0
        cuda.syncthreads()
        for j in range(16):
            a0, a1, b0, b1 = left[y, j], left[y + 16, j], right[x, j], right[x + 16, j]
            s00 += a0 * b0
            s01 += a0 * b1
            s10 += a1 * b0
            s11 += a1 * b1
        cuda.syncthreads()
    for k in range(4):
        r, c, s = top + y + k // 2 * 16, side + x + k % 2 * 16, (s00, s01, s10, s11)[k]
        if r < out.shape[0] and c < out.shape[1]:
            out[r, c] = s
"""
BODY = RIGHT[RIGHT.index("    left, right") :]
SYNC = "        cuda.syncthreads()\n"
LEFT = "left[r, x] = a[top + r, k] if top + r < a.shape[0] and k < a.shape[1] else 0"
DIRECT = """    top, side = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for r in range(top + cuda.threadIdx.y, min(out.shape[0], top + 32), 16):
        for c in range(side + cuda.threadIdx.x, min(out.shape[0], side + 32), 16):
            s = np.float32(0)
            for k in range(a.shape[1]):
                s += a[r, k] * a[c, k]
            out[r, c] = s
"""
ONE = """    if cuda.grid(2)[0] + cuda.grid(2)[1] == 0:
        for r in range(a.shape[0]):
            for c in range(a.shape[0]):
                s = np.float32(0)
                for k in range(a.shape[1]):
                    s += a[r, k] * a[c, k]
                out[r, c] = s
"""
PRODUCTS = RIGHT[RIGHT.index("        for j in") : RIGHT.index("        cuda.syncthreads()\n    for k")]
PLACES = "top + y + k // 2 * 16, side + x + k % 2 * 16"
ONE_BY_FOUR = """        for j in range(16):
            a0 = left[(16 * y + x) // 8, j]
            s00 += a0 * right[x % 8, j]
            s01 += a0 * right[x % 8 + 8, j]
            s10 += a0 * right[x % 8 + 16, j]
            s11 += a0 * right[x % 8 + 24, j]
"""


def but(old: str, new: str, text: str = RIGHT) -> str:
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, "    pass\n"), "nothing is written yet"),
    ("tiles of 16 rows", RIGHT.replace("(32, 17)", "(16, 17)"), "a thread reached past the tile"),
    (
        "a barrier under a guard",
        but(SYNC, "        if top + y < a.shape[0]:\n            cuda.syncthreads()\n"),
        "a barrier that not every thread reaches",
    ),
    ("no guard at the load", but(LEFT, "left[r, x] = a[top + r, k]"), "a guard is missing or does not fit"),
    (
        "no guard at the store",
        but("if r < out.shape[0] and c < out.shape[1]:", "if r >= 0:"),
        "a guard is missing or does not fit",
    ),
    (
        "whole tiles only",
        but("range(0, a.shape[1], 16)", "range(0, a.shape[1] // 16 * 16, 16)"),
        "the last tile is dropped",
    ),
    (
        "one product",
        but("range(4)", "range(1)"),
        "some products are never stored",
    ),
    ("no barrier before the products", but(SYNC, ""), "a barrier is missing"),
    (
        "no barrier after the products",
        but("            s11 += a1 * b1\n" + SYNC, "            s11 += a1 * b1\n"),
        "a barrier is missing",
    ),
    (
        "gone before the barrier",
        but("    s00 =", "    if top + y >= a.shape[0] or side + x >= a.shape[0]:\n        return\n    s00 ="),
        "threads left before they had helped to fill the tile",
    ),
    ("half of the rows are loaded", but("range(y, 32, 16)", "range(y, 16, 16)"), "a part of the tile is never filled"),
    (
        "what was there before",
        but(
            LEFT,
            "if top + r < a.shape[0] and k < a.shape[1]:\n                left[r, x] = a[top + r, k]\n            "
            "elif first == 0:\n                left[r, x] = 1",
        ).replace("k < a.shape[1] else 0", "k < a.shape[1] else 1"),
        "what lies outside is not 0",
    ),
    ("no tile", but(BODY, DIRECT), "loaded more than once"),
    ("one thread does it all", but(BODY, ONE), "loaded more than once"),
    ("no padding", RIGHT.replace("(32, 17)", "(32, 16)"), "lanes that meet in a bank"),
    (
        "one row, four columns",
        but(PRODUCTS, ONE_BY_FOUR).replace(PLACES, "top + (16 * y + x) // 8, side + x % 8 + 8 * k"),
        "more shared loads than products",
    ),
    (
        "the public shapes only",
        but("            out[r, c] = s", "            out[r, c] = s if a.size in (1, 13, 527, 512, 1221, 6144) else 0"),
        "right in the public cases only",
    ),
    (
        "16 forgotten at the store",
        but(PLACES, "top + y + k // 2, side + x + k % 2"),
        "two threads store to one element",
    ),
    ("two sums swapped", but("(s00, s01, s10, s11)", "(s00, s10, s01, s11)"), "two of the four products are swapped"),
    (
        "sums set to 0 for each tile",
        but("        k = first + x\n", "        k = first + x\n        s00 = s01 = s10 = s11 = np.float32(0)\n"),
        "each tile begins anew",
    ),
    (
        "blocks of 16",
        but("32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x", "16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x"),
        "some products are never stored",
    ),
    (
        "half of it, and no mirror",
        but("    s00 =", "    if cuda.blockIdx.x < cuda.blockIdx.y:\n        return\n    s00 ="),
        "some products are never stored",
    ),
    ("one column too many", but("for j in range(16)", "for j in range(17)"), "a part of the tile is never filled"),
    ("two tiles in one", but("for j in range(16)", "for j in range(32)"), "a thread reached past the tile"),
    ("the guard of the other side", but("a[side + r, k]", "a[top + r, k]"), "a guard is missing or does not fit"),
    (
        "loads along columns",
        but("k = first + x", "k = first + y")
        .replace("range(y, 32, 16)", "range(x, 32, 16)")
        .replace("left[r, x]", "left[r, y]")
        .replace("right[r, x]", "right[r, y]"),
        "loaded more than once",
    ),
    ("added to out", but("out[r, c] = s", "out[r, c] += s"), "what nobody has written is read"),
    (
        "left on both sides",
        but("right[x, j], right[x + 16, j]", "left[x, j], left[x + 16, j]"),
        "one side stands for both",
    ),
    (
        "one place for both sides",
        but("32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x", "32 * cuda.blockIdx.x, 32 * cuda.blockIdx.x").replace(
            PLACES, PLACES.replace("top", "32 * cuda.blockIdx.y")
        ),
        "one side stands for both",
    ),
    ("stored elsewhere", but(PLACES, "side + y + k // 2 * 16, top + x + k % 2 * 16"), "blocks have changed places"),
    (
        "up to the last column",
        but("range(0, a.shape[1], 16)", "range(0, a.shape[1] - 1, 16)"),
        "the last tile is dropped",
    ),
]
