"""Wrong answers to lab04.lower."""

KEY = "lab04.lower"

RIGHT = """
@cuda.jit
def lower(x, out):
    least = cuda.shared.array(1, "int32")
    t = cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
        if t == 0:
            least[0] = 2**31 - 1
        cuda.syncthreads()
        mine = 2**31 - 1
        for i in range(t, x.shape[1], cuda.blockDim.x):
            mine = min(mine, x[row, i])
        cuda.atomic.min(least, 0, mine)
        cuda.syncthreads()
        for i in range(t, x.shape[1], cuda.blockDim.x):
            out[row, i] = x[row, i] - least[0]
        cuda.syncthreads()
"""
BODY = RIGHT[RIGHT.index("    least =") :]
SYNC = "        cuda.syncthreads()\n"
COMPARE = RIGHT[
    RIGHT.index("        mine =") : RIGHT.index(
        SYNC + "        for i in range(t, x.shape[1], cuda.blockDim.x):\n            out"
    )
]
SET = "        if t == 0:\n            least[0] = 2**31 - 1\n"
ALONE = """    if cuda.threadIdx.x == 0:
        for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
            least = x[row, 0]
            for i in range(x.shape[1]):
                least = min(least, x[row, i])
            for i in range(x.shape[1]):
                out[row, i] = x[row, i] - least
"""
EACH = """        for i in range(t, x.shape[1], cuda.blockDim.x):
            cuda.atomic.min(least, 0, x[row, i])
"""


def but(old: str, new: str, text: str = RIGHT) -> str:
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, "    pass\n"), "nothing is written yet"),
    ("as it was planted", RIGHT[: RIGHT.rindex(SYNC)].replace(COMPARE, EACH), "the next row begins too soon"),
    ("not planted, but as early", RIGHT[: RIGHT.rindex(SYNC)], "the next row begins too soon"),
    (
        "a barrier of the warp",
        RIGHT[: RIGHT.rindex(SYNC)] + "        cuda.syncwarp()\n",
        "the next row begins too soon",
    ),
    ("never set", but(SET, ""), "shared memory that nobody has written"),
    ("no barrier after setting", but(SYNC, ""), "a barrier is missing"),
    (
        "no barrier before subtracting",
        but(
            SYNC + "        for i in range(t, x.shape[1], cuda.blockDim.x):\n            out",
            "        for i in range(t, x.shape[1], cuda.blockDim.x):\n            out",
        ),
        "a barrier is missing",
    ),
    (
        "a barrier in the loop over elements",
        but(
            "            mine = min(mine, x[row, i])\n",
            "            mine = min(mine, x[row, i])\n            cuda.syncthreads()\n",
        ),
        "a barrier that not every thread reaches",
    ),
    ("set once", but("if t == 0:", "if t == 0 and row == cuda.blockIdx.x:"), "the least is never set again"),
    ("from zero", RIGHT.replace("2**31 - 1", "0"), "the search begins too low"),
    ("one thread does it all", but(BODY, ALONE), "lanes that do not read neighbours"),
    ("an atomic for each element", but(COMPARE, EACH), "every element asks shared memory"),
    ("a barrier too many", but(SYNC, SYNC + SYNC), "more barriers than it takes"),
    (
        "the public widths only",
        but("- least[0]", "- (least[0] if x.shape[1] in (1, 31, 97, 128, 501, 640) else 0)"),
        "right in the public cases only",
    ),
    (
        "least by hand",
        but("cuda.atomic.min(least, 0, mine)", "least[0] = min(least[0], mine)"),
        "compared without an atomic",
    ),
    (
        "least by hand, in two lines",
        but("cuda.atomic.min(least, 0, mine)", "if mine < least[0]:\n            least[0] = mine"),
        "compared without an atomic",
    ),
    ("from 99", RIGHT.replace("2**31 - 1", "99"), "the search begins too low"),
    ("one too great", RIGHT.replace("2**31 - 1", "2**31"), "the search begins too low"),
    ("its own least", but("- least[0]", "- mine"), "each thread takes its own least"),
    (
        "128 elements only",
        RIGHT.replace("range(t, x.shape[1], cuda.blockDim.x)", "range(t, min(128, x.shape[1]), cuda.blockDim.x)"),
        "some of a row is left out",
    ),
    (
        "a row for the whole grid",
        RIGHT.replace("range(t, x.shape[1], cuda.blockDim.x)", "range(cuda.grid(1), x.shape[1], cuda.gridsize(1))"),
        "some of a row is left out",
    ),
    (
        "all rows for every block",
        but("range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x)", "range(x.shape[0])"),
        "every block does all rows",
    ),
    (
        "a fence for the barrier",
        RIGHT[: RIGHT.rindex(SYNC)] + "        cuda.threadfence_block()\n",
        "the next row begins too soon",
    ),
    (
        "subtracted at once",
        but(COMPARE, EACH.replace("x[row, i])", "x[row, i])\n            out[row, i] = x[row, i] - least[0]")),
        "a barrier is missing",
    ),
    (
        "a tree in shared memory",
        but("cuda.shared.array(1,", "cuda.shared.array(128,")
        .replace(SET + SYNC, "")
        .replace(
            "        cuda.atomic.min(least, 0, mine)\n",
            "        least[t] = mine\n        cuda.syncthreads()\n        step = 64\n"
            "        while step > 0:\n            if t < step:\n"
            "                least[t] = min(least[t], least[t + step])\n"
            "            cuda.syncthreads()\n            step //= 2\n",
        ),
        "more barriers than it takes",
    ),
    (
        "the greatest",
        RIGHT.replace("atomic.min", "atomic.max").replace("min(mine", "max(mine").replace("2**31 - 1", "-(2**31)"),
        "the greatest, not the least",
    ),
    ("the other sign", but("x[row, i] - least[0]", "least[0] - x[row, i]"), "the sign is the other one"),
    ("added", but("- least[0]", "+ least[0]"), "added, not subtracted"),
    (
        "thread 0 alone",
        but("cuda.atomic.min(least, 0, mine)", "if t == 0:\n            least[0] = mine"),
        "one thread's least for all",
    ),
    (
        "the sum",
        RIGHT.replace("atomic.min", "atomic.add")
        .replace("min(mine, x[row, i])", "mine + x[row, i]")
        .replace("2**31 - 1", "0"),
        "the sum, not the least",
    ),
    (
        "one row a block",
        but("x.shape[0], cuda.gridDim.x)", "min(x.shape[0], cuda.blockIdx.x + 1))"),
        "rows are left out",
    ),
    ("rows and columns swapped", but("x[row, i])", "x[i, row])"), "an index beyond its row or column"),
]
