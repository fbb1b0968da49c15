"""Wrong answers to lab03.pool."""

KEY = "lab03.pool"

RIGHT = """
@cuda.jit
def pool(x, out):
    tile = cuda.shared.array((10, 34), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    top, left = row - ty - 1, column - tx - 1
    for y in range(ty, 10, 8):
        for k in range(tx, 34, 32):
            r, c = min(max(top + y, 0), x.shape[0] - 1), min(max(left + k, 0), x.shape[1] - 1)
            tile[y, k] = x[r, c]
    cuda.syncthreads()
    if row < x.shape[0] and column < x.shape[1]:
        best = tile[ty, tx]
        for y in range(3):
            for k in range(3):
                best = max(best, tile[ty + y, tx + k])
        out[row, column] = best
"""
BODY = RIGHT[RIGHT.index("    tile =") :]
CLAMPED = "r, c = min(max(top + y, 0), x.shape[0] - 1), min(max(left + k, 0), x.shape[1] - 1)"
FILLED = CLAMPED + "\n            tile[y, k] = x[r, c]"
GUARD = "if row < x.shape[0] and column < x.shape[1]:"
INSIDE = "0 <= top + y < x.shape[0] and 0 <= left + k < x.shape[1]"
DIRECT = """    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        best = x[row, column]
        for r in range(max(row - 1, 0), min(row + 2, x.shape[0])):
            for c in range(max(column - 1, 0), min(column + 2, x.shape[1])):
                best = max(best, x[r, c])
        out[row, column] = best
"""
ONE = """    if cuda.grid(2)[0] + cuda.grid(2)[1] == 0:
        for row in range(x.shape[0]):
            for column in range(x.shape[1]):
                best = x[row, column]
                for r in range(max(row - 1, 0), min(row + 2, x.shape[0])):
                    for c in range(max(column - 1, 0), min(column + 2, x.shape[1])):
                        best = max(best, x[r, c])
                out[row, column] = best
"""
OWN = "r, c = min(max(top + y, row - ty), row - ty + 7), min(max(left + k, column - tx), column - tx + 31)"


def but(old: str, new: str, text: str = RIGHT) -> str:
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, "    pass\n"), "nothing is written yet"),
    ("no room for the halo", but("(10, 34)", "(8, 32)"), "a thread reached past the tile"),
    ("no barrier", but("    cuda.syncthreads()\n", ""), "a barrier is missing"),
    (
        "a barrier in the loop that fills",
        but("    cuda.syncthreads()\n", "").replace("= x[r, c]\n", "= x[r, c]\n            cuda.syncthreads()\n"),
        "a barrier that not every thread reaches",
    ),
    (
        "gone before the barrier",
        but("    top, left", "    if row >= x.shape[0] or column >= x.shape[1]:\n        return\n    top, left"),
        "threads left before they had helped to fill the tile",
    ),
    ("the halo is not filled", but("range(ty, 10, 8)", "range(ty, 8, 8)"), "a part of the tile is never filled"),
    (
        "nothing for what is outside",
        but(FILLED, f"if {INSIDE}:\n                tile[y, k] = x[top + y, left + k]"),
        "a part of the tile is never filled",
    ),
    ("no guard at the load", but(CLAMPED, "r, c = top + y, left + k"), "a guard is missing or does not fit"),
    ("no guard at the store", but(GUARD, "if row >= 0:"), "a guard is missing or does not fit"),
    ("zeros outside", but(FILLED, f"tile[y, k] = x[top + y, left + k] if {INSIDE} else 0"), "outside counts as 0"),
    (
        "a block for itself",
        but(CLAMPED, OWN + "\n            r, c = min(r, x.shape[0] - 1), min(c, x.shape[1] - 1)"),
        "the tile has no halo",
    ),
    (
        "a cross",
        but(
            "best = max(best, tile[ty + y, tx + k])",
            "if y == 1 or k == 1:\n                    best = max(best, tile[ty + y, tx + k])",
        ).replace("best = tile[ty, tx]", "best = tile[ty + 1, tx + 1]"),
        "corners are left out",
    ),
    ("no tile", but(BODY, DIRECT), "more is loaded than a tile and its halo"),
    ("one thread does it all", but(BODY, ONE), "more is loaded than a tile and its halo"),
    (
        "a tile on its side",
        but("(10, 34)", "(34, 10)")
        .replace("tile[y, k]", "tile[k, y]")
        .replace("tile[ty, tx]", "tile[tx, ty]")
        .replace("tile[ty + y, tx + k]", "tile[tx + k, ty + y]"),
        "neighbouring lanes meet in a bank",
    ),
    (
        "the public shapes only",
        but(GUARD, "if row < x.shape[0] and column < x.shape[1] and x.size in (1, 70, 481, 2048, 3135, 10240):"),
        "the end is not written",
    ),
    ("begins at 0", but("best = tile[ty, tx]", "best = 0.0"), "the search begins at 0"),
    (
        "nothing against indices below 0",
        but(CLAMPED, "r, c = min(top + y, x.shape[0] - 1), min(left + k, x.shape[1] - 1)"),
        "an index below 0 counts from the end",
    ),
    (
        "the tile begins at the block",
        but("row - ty - 1, column - tx - 1", "row - ty, column - tx"),
        "the nine are those of a neighbour",
    ),
    (
        "one place too early",
        but("tile[ty + y, tx + k]", "tile[ty + y - 1, tx + k - 1]"),
        "the nine are those of a neighbour",
    ),
    ("two columns of three", RIGHT.replace("for k in range(3)", "for k in range(2)"), "some neighbours never count"),
    (
        "nothing at row 0",
        but(FILLED, f"tile[y, k] = x[top + y, left + k] if {INSIDE.replace('0 <=', '0 <')} else -np.inf"),
        "the edge of x is taken for outside",
    ),
    ("a tile of integers", but('"float32"', '"int32"'), "fractions are lost"),
    (
        "indices of the tile swapped",
        but("tile[ty + y, tx + k]", "tile[tx + k, ty + y]"),
        "a thread reached past the tile",
    ),
    (
        "every thread fills all of it",
        but("range(ty, 10, 8)", "range(10)").replace("range(tx, 34, 32)", "range(34)"),
        "more is loaded than a tile and its halo",
    ),
    (
        "filled along columns",
        but(
            "for y in range(ty, 10, 8):\n        for k in range(tx, 34, 32):\n",
            "for k in range(tx + 32 * ty, 340, 256):\n        for y in range(k % 10, k % 10 + 1):\n",
        )
        .replace("left + k, 0)", "left + k // 10, 0)")
        .replace("tile[y, k] =", "tile[y, k // 10] ="),
        "more is loaded than a tile and its halo",
    ),
    (
        "-1 outside",
        but(FILLED, f"tile[y, k] = x[top + y, left + k] if {INSIDE} else np.float32(-1)"),
        "outside counts as a number",
    ),
    ("the least", RIGHT.replace("best = max(", "best = min("), "the least, not the greatest"),
]
