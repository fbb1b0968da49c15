"""The reuse of a tile, read off its sizes: FLOP for each byte that a block loads."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

TILES = ((1, 1, 4), (32, 32, 4), (64, 16, 4), (16, 64, 8), (128, 128, 4), (128, 128, 2), (8, 1, 4))


def _case(rows: int, columns: int, itemsize: int) -> Case:
    name = f"{rows} × {columns} results, {plural(itemsize, 'byte')} an element"
    expected = 2 * rows * columns / (itemsize * (rows + columns))
    return Case(name, (rows, columns, itemsize), expected=expected)


EXERCISE = Exercise(
    key="ch13.reuse",
    title="the reuse of a tile",
    language="python",
    name="reuse",
    cases=lambda: [_case(*tile) for tile in TILES],
    hints=(
        "Think of a single step of k: which elements of a does the block need, and which of b?",
        "A step loads `rows` elements of a and `columns` elements of b, and does rows · columns multiply-adds.",
        "2 * rows * columns / (itemsize * (rows + columns)): the depth is in both, and cancels.",
    ),
    solution="""
def reuse(rows, columns, itemsize):
    flops = 2 * rows * columns
    loaded = itemsize * (rows + columns)
    return flops / loaded
""",
    why="FLOPs grow with the area of the tile, loads with half its circumference. So a square tile reuses most for its "
    "area, and doubling its side doubles the reuse. The same holds for a thread: 8 × 8 results need 16 values for 64 "
    "multiply-adds, 8 × 1 results need 9 for 8.",
    stretch="which tile of 4,096 results has the highest reuse, and which the lowest?",
    mistakes=(
        Mistake(
            "a multiply-add is two operations",
            "Each of the rows · columns multiply-adds of a step is a multiplication and an addition: 2 FLOP.",
            (("2 * rows", "rows"),),
        ),
        Mistake(
            "elements are not bytes",
            "That is FLOP per element. An element is `itemsize` bytes.",
            (("itemsize * (rows + columns)", "(rows + columns)"),),
        ),
        Mistake(
            "no load is divided by",
            "This grows with the area of the tile alone. Divide by what a step loads: rows + columns elements.",
            (("itemsize * (rows + columns)", "itemsize"), ("flops / loaded", "flops")),
        ),
        Mistake(
            "the tile of the result is not loaded",
            "A step loads a strip of a, `rows` elements long, and a strip of b, `columns` elements long. The rows × "
            "columns results lie in registers.",
            (
                ("(rows + columns)", "(rows * columns)"), ("(rows + columns)", "(rows + columns + rows * columns)"),
                ("(rows + columns)", "rows * columns"),
            ),
        ),
        Mistake(
            "one factor is missing",
            "Both factors are loaded: `rows` elements of a, and `columns` of b.",
            (("(rows + columns)", "rows"), ("(rows + columns)", "columns")),
        ),
        Mistake(
            "each result loads for itself",
            "That is a kernel without a tile: each multiply-add loads two elements. Here all results of a row share "
            "an element of a, and all of a column one of b.",
            (("(rows + columns)", "(2 * rows * columns)"),),
        ),
        Mistake(
            "bytes for each FLOP",
            "The ratio is upside down: FLOP above, bytes below.",
            (("flops / loaded", "loaded / flops"),),
        ),
        Mistake(
            "right for square tiles only",
            "The tile has two sides, and they may differ.",
            (("flops / loaded", "rows / itemsize"), ("flops / loaded", "columns / itemsize")),
        ),
    ),
)  # fmt: skip
