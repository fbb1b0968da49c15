"""Half of each element of a matrix: the index that differs from lane to lane chooses the column."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.exercises.ch04.budgets import LOADS, STORES, sectors_in_all

TILE = (32, 8)


def _case(rows: int, columns: int) -> Case:
    x = numbers((rows, columns), seed=rows)
    longest = max(rows, columns)  # so that both ways of reading cuda.grid(2) reach every element
    return Case(
        f"{plural(rows, 'row')} × {plural(columns, 'column')}",
        (x, Out(x / 2)),
        (cover(longest, TILE[0]), cover(longest, TILE[1])),
        TILE,
    )


EXERCISE = Exercise(
    key="ch04.halve",
    title="halve a matrix, coalesced, in Numba",
    language="numba",
    name="halve",
    cases=lambda: [_case(*shape) for shape in ((1, 1), (1, 70), (70, 1), (13, 37), (37, 13), (64, 64))],
    measured=lambda: _case(64, 64),
    budgets=(LOADS, STORES, sectors_in_all(64 * 64)),
    hints=(
        "Which of the two indices changes from lane to lane of one warp?",
        "cuda.grid(2) gives x first. The last index of a NumPy array is the one whose neighbours touch.",
        "column, row = cuda.grid(2), then x[row, column].",
    ),
    solution="""
@cuda.jit
def halve(x, out):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        out[row, column] = x[row, column] / 2
""",
    why="The lanes of a warp differ in x. Given the last index of a C-ordered array, they touch 32 neighbouring "
    "floats: 4 sectors. `i, j = cuda.grid(2)` with x[i, j] reads naturally and costs 32.",
    stretch="transpose instead of halving. Can both the load and the store have 4 sectors? Chapter 05 has the answer.",
    mistakes=(
        Mistake(
            "the guard swaps rows and columns",
            "Square matrices come out right, others do not. x.shape is (rows, columns): the row index is compared with "
            "shape[0] and stands first in x[row, column], the column with shape[1].",
            (
                ("row < x.shape[0] and column < x.shape[1]", "column < x.shape[0] and row < x.shape[1]"),
                ("row < x.shape[0] and column < x.shape[1]", "row < min(x.shape) and column < min(x.shape)"),
            ),
        ),
        Mistake(
            "stored as the transposed matrix",
            "One of the two accesses has its indices the other way round: out[row, column] is half of x[row, column].",
            (("out[row, column]", "out[column, row]"), ("x[row, column]", "x[column, row]")),
        ),
        Mistake(
            "doubled, or rounded down",
            "Half of x[row, column] is x[row, column] / 2: // rounds down, and * 2 doubles.",
            (("/ 2", "* 2"), ("/ 2", "// 2")),
        ),
        Mistake(
            "x is the row",
            "The result is right, but the first number of cuda.grid(2) is x, in which the lanes of a warp differ. "
            "Used as the row, it sends 32 lanes to 32 rows. Let x choose the column.",
            (("column, row = ", "row, column = "),),
        ),
        Mistake(
            "neighbouring lanes are apart",
            "The result is right, but in some request the lanes of a warp leave gaps between them. Neighbouring "
            "threads in x should have neighbouring columns, one each.",
            (
                """    c, row = cuda.grid(2)
    for column in range(2 * c, min(2 * c + 2, x.shape[1])):
        if row < x.shape[0]:
            out[row, column] = x[row, column] / 2""",
            ),
        ),
        Mistake(
            "one lane works, the others watch",
            "One lane that walks along a row asks for the same sector eight times, and 31 lanes idle. Give each "
            "thread one element.",
            (
                """    column, row = cuda.grid(2)
    if column == 0 and row < x.shape[0]:
        for k in range(x.shape[1]):
            out[row, k] = x[row, k] / 2""",
            ),
        ),
        Mistake(
            "every thread does everything",
            "Right, but each thread goes through more than its own element, and so do the others. There is one "
            "thread for each element.",
            (
                """    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            out[row, column] = x[row, column] / 2""",
            ),
        ),
        Mistake(
            "loaded more than once",
            "Right, but elements are loaded again: by the same thread after a store, as the compiler cannot know that "
            "out is another array than x, or by threads that differ in y alone.",
            (
                """    column = cuda.grid(1)
    if column < x.shape[1]:
        for row in range(x.shape[0]):
            out[row, column] = x[row, column] / 2""",
                ("out[row, column] = x[row, column] / 2",
                 "out[row, column] = x[row, column]\n        out[row, column] -= x[row, column] / 2"),
            ),
        ),
    ),
)  # fmt: skip
