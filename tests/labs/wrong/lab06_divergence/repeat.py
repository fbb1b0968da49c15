"""Wrong answers to lab06.repeat."""

KEY = "lab06.repeat"

RIGHT = """
@cuda.jit
def repeat(value, first, out):
    k = cuda.grid(1)
    if k < out.size:
        lo, hi = 0, value.size
        while hi - lo > 1:
            mid = (lo + hi) // 2
            if first[mid] <= k:
                lo = mid
            else:
                hi = mid
        out[k] = value[lo]
"""
BODY = RIGHT[RIGHT.index("    if k") :]
SEARCH = RIGHT[RIGHT.index("        lo, hi") : RIGHT.index("        out[k]")]
ROW = """    if k < value.size:
        for i in range(first[k], first[k + 1]):
            out[i] = value[k]
"""
ALL = """    if k == 0:
        for row in range(value.size):
            for i in range(first[row], first[row + 1]):
                out[i] = value[row]
"""
LOWER_BOUND = """        lo, hi = 0, value.size
        while lo < hi:
            mid = (lo + hi) // 2
            if first[mid] < k:
                lo = mid + 1
            else:
                hi = mid
        lo -= 1
"""
WARP = """    for row in range(k // 32, value.size, cuda.gridsize(1) // 32):
        for i in range(first[row] + k % 32, first[row + 1], 32):
            out[i] = value[row]
"""


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but((BODY, "    pass\n")), "nothing is written yet"),
    ("no guard", but(("if k < out.size", "if True")), "a result past the end"),
    ("a guard of rows", but(("k < out.size", "k < value.size")), "the end is not written"),
    ("the row before", but(("first[mid] <= k", "first[mid] < k")), "the first of a row is taken for the row before"),
    (
        "the first of empty rows",
        but(
            (
                "        out[k]",
                "        while lo > 0 and first[lo - 1] == first[lo]:\n            lo -= 1\n        out[k]",
            )
        ),
        "an empty row is taken for the one behind it",
    ),
    ("a row for each thread", but((BODY, ROW)), "a row for each thread"),
    ("one thread does it all", but((BODY, ALL)), "a row for each thread"),
    ("a row for each warp", but((BODY, WARP)), "lanes for which the row is too short"),
    (
        "a walk to the row",
        but((SEARCH, "        lo = 0\n        while first[lo + 1] <= k:\n            lo += 1\n")),
        "more looking than it takes",
    ),
    (
        "a walk through all rows",
        but((SEARCH, "        lo = -1\n        for row in range(value.size):\n            lo += first[row] <= k\n")),
        "more looking than it takes",
    ),
    (
        "the public sizes only",
        but(("value[lo]", "value[lo] if value.size in (300, 400) or value.size < 129 else np.float32(0)")),
        "right in the public cases only",
    ),
    ("one row further", but(("lo = mid\n", "lo = mid + 1\n")), "a row that does not exist"),
    ("one row less", but(("lo, hi = 0, value.size", "lo, hi = 0, value.size - 1")), "the last row is never found"),
    (
        "one result too many a row",
        but((BODY, ROW.replace("first[k + 1])", "first[k + 1] + 1)"))),
        "a result past the end",
    ),
    (
        "one row before what is found",
        but((SEARCH, LOWER_BOUND)),
        "the first of a row is taken for the row before",
    ),
    (
        "one block does it all",
        but(("if k < out.size:", "for k in range(k, out.size if cuda.blockIdx.x == 0 else 0, cuda.blockDim.x):")),
        "few do the work of all",
    ),
    ("the other end of the search", but(("value[lo]", "value[min(hi, value.size - 1)]")), "the row behind"),
    (
        "the middle of the search",
        but(("lo, hi = 0, value.size", "lo, hi, mid = 0, value.size, 0"), ("value[lo]", "value[mid]")),
        "the row behind",
    ),
    ("the number of the row", but(("value[lo]", "lo")), "the row instead of its value"),
    (
        "no search",
        but((BODY, "    if k < value.size and k < out.size:\n        out[k] = value[k]\n")),
        "value[k] for result k",
    ),
    (
        "one of each row",
        but((BODY, "    if k < value.size and first[k] < first[k + 1]:\n        out[first[k]] = value[k]\n")),
        "only the first result of each row",
    ),
    (
        "four results side by side",
        but(
            (
                BODY,
                RIGHT[RIGHT.index("    if k") :]
                .replace("if k < out.size", "if 4 * k < out.size")
                .replace("first[mid] <= k", "first[mid] <= 4 * k")
                .replace(
                    "        out[k] = value[lo]\n",
                    "        for j in range(4 * k, min(4 * k + 4, out.size)):\n"
                    "            while first[lo + 1] <= j:\n                lo += 1\n            out[j] = value[lo]\n",
                ),
            )
        ),
        "neighbouring results in one thread",
    ),
]
