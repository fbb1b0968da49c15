"""Max pooling whose windows overlap, as AlexNet has it: 3 × 3, two pixels on."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK = (16, 4, 2)


def _pooled(x: np.ndarray) -> np.ndarray:
    height, width = x.shape[1:]
    rows, columns = (height - 3) // 2 + 1, (width - 3) // 2 + 1
    windows = [x[:, r : r + 2 * rows - 1 : 2, s : s + 2 * columns - 1 : 2] for r in range(3) for s in range(3)]
    return np.max(windows, axis=0)


def _case(planes: int, height: int, width: int) -> Case:
    x = numbers((planes, height, width), seed=height) - np.float32(6)
    longest = max(height, width)
    grid = (cover(longest, BLOCK[0]), cover(longest, BLOCK[1]), cover(planes, BLOCK[2]))
    return Case(f"{plural(planes, 'plane')} of {height} × {width}", (x, Out(_pooled(x))), grid, BLOCK)


SHAPES = ((1, 3, 3), (2, 5, 5), (1, 7, 33), (3, 33, 7), (2, 16, 19))
BEST = "best = x[plane, 2 * row, 2 * column]"
VALUE = "x[plane, 2 * row + r, 2 * column + s]"

EXERCISE = Exercise(
    key="ch19.pool",
    title="max pooling with overlapping windows, in Numba",
    language="numba",
    name="pool",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    hints=(
        "One thread looks after one output, (plane, row, column). Which nine pixels does it compare?",
        "The window's corner is (2 * row, 2 * column). Begin with a pixel of the window, not with 0.",
        "for r in range(3): for s in range(3): best = max(best, x[plane, 2 * row + r, 2 * column + s])",
    ),
    solution="""
import numpy as np


@cuda.jit
def pool(x, out):
    column, row, plane = cuda.grid(3)
    if plane < out.shape[0] and row < out.shape[1] and column < out.shape[2]:
        best = x[plane, 2 * row, 2 * column]
        for r in range(3):
            for s in range(3):
                best = max(best, x[plane, 2 * row + r, 2 * column + s])
        out[plane, row, column] = best
""",
    why="A window of 3 that moves by 2 shares a row or a column with each neighbour. Nothing is lost by that but a few "
    "loads, most of which a cache serves; AlexNet's authors report a slightly lower error for it.",
    stretch="where two windows share the largest pixel, its gradient gets two terms. How must the backward kernel "
    "change, if it may not use atomics?",
    mistakes=(
        Mistake(
            "the largest so far begins at 0",
            "Where all nine pixels are negative, 0 is larger than each of them. Begin with one of the nine.",
            (
                (BEST, "best = np.float32(0)"), ((BEST, "best = np.float32(0)"), ("range(3)", "range(2)")),
                (BEST, "best = x[plane, 2 * row, 2 * column] * 0"),
            ),
        ),
        Mistake(
            "the windows do not overlap",
            "Each window has 3 × 3 pixels and begins two pixels after the one before. This one has another size.",
            (("range(3)", "range(2)"), (("2 * row + r", "3 * row + r"), ("2 * column + s", "3 * column + s"))),
        ),
        Mistake(
            "the window moves by one",
            "Output (row, column) belongs to the window whose corner is (2 * row, 2 * column).",
            ((("2 * row + r", "row + r"), ("2 * column + s", "column + s"), (BEST, "best = x[plane, row, column]")),),
        ),
        Mistake(
            "an average",
            "The largest of the nine is asked for, not their mean or sum.",
            (
                (("max(best, " + VALUE + ")", "best + " + VALUE), (BEST, "best = np.float32(0)")),
                (("max(best, " + VALUE + ")", "best + " + VALUE + " / np.float32(9)"), (BEST, "best = np.float32(0)")),
            ),
        ),
        Mistake(
            "the smallest",
            "The largest of the nine is asked for, not the smallest.",
            (("max(best", "min(best"),),
        ),
        Mistake(
            "rows and columns change places",
            "x[plane, row, column]: the row comes before the column, in x and in out.",
            ((VALUE, "x[plane, 2 * column + s, 2 * row + r]"), ("out[plane, row, column]", "out[plane, column, row]")),
        ),
    ),
)  # fmt: skip
