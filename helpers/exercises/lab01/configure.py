"""A launch for an image: the shape of a block by the columns, and as many blocks as cover it, within limits."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, cover

THREADS, MOST_BLOCKS = 256, 65_535
SHAPES = (
    (1, 1), (8, 32), (9, 33), (480, 640), (37, 13), (13, 37), (1000, 3), (1000, 16), (1000, 17),
    (524_280, 32), (524_281, 32), (4_000_000, 100), (9_000_000, 1),
)  # fmt: skip
LOOP = "while width // 2 >= columns:  # a row still fits into half of it\n        width //= 2"
ACROSS, ROWS = "(columns + width - 1) // width", "(rows + height - 1) // height"
DOWN = "min(65_535, down)"
GRID, BLOCK = f"(across, {DOWN})", "(width, height)"
ALL = f"{GRID}, {BLOCK}"


def _case(rows: int, columns: int) -> Case:
    width = 32
    while width // 2 >= columns:
        width //= 2
    height = THREADS // width
    wanted = (cover(columns, width), min(MOST_BLOCKS, cover(rows, height))), (width, height)
    return Case(f"configure({rows:,}, {columns:,})", (rows, columns), expected=wanted)


def _drawn(dice: np.random.Generator) -> list[Case]:
    high, low = dice.integers(600_000, 9_000_000, 2), dice.integers(1, 5000, 6)
    widths = (*dice.integers(1, 32, 4), *dice.integers(33, 4000, 4))
    return [_case(int(rows), int(columns)) for rows, columns in zip((*high, *low), widths, strict=True)]


EXERCISE = Exercise(
    key="lab01.configure",
    title="choose a launch for an image, in Python",
    language="python",
    name="configure",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    drawn=_drawn,
    hints=(
        "First the block: how wide may it be? Then the grid: how many of these cover the image?",
        "Start with a width of 32, and halve it while half of it still holds a row. The height is 256 // width.",
        "n / k, rounded up, is (n + k - 1) // k. In x the grid has as many blocks as the columns take. In y it has as "
        "many as the rows take, but no more than it may have: min(65_535, (rows + height - 1) // height).",
    ),
    why="The block's shape follows the data, its size does not: 256 threads suit most kernels to begin with. A warp "
    "that is 32 wide reads one row in one piece; where rows are shorter it may as well have several of them. Sizes of "
    "y and z of a grid end at 65,535, a limit that tall images and large batches meet in practice. With a loop in the "
    "kernel the grid is a choice, and a test of one block is possible.",
    stretch="choose the number of blocks by the GPU instead: as many as fit on all of its SMs at once.",
    mistakes=(
        Mistake("no two tuples of two",
            "What is returned is (grid, block): two tuples, (x, y) each, of whole numbers.",
            ((ALL, f"*{GRID}, width, height"), (ALL, GRID))),
        Mistake("x covers the rows",
            "x comes first in CUDA, in the grid and in the block, and it runs along a row: the columns decide the "
            "width of the block, and the first number of the grid covers them.",
            (
                ("(rows, columns)", "(columns, rows)"), (GRID, f"{GRID}[::-1]"), (BLOCK, "(height, width)"),
                (ALL, f"{GRID}[::-1], (height, width)"), ("2 >= columns", "2 >= rows"),
            )),
        Mistake("not rounded up",
            "// drops the last block that is not full, round() drops it if it is less than half full, and its elements "
            "have no thread. / leaves a fraction, and there are no fractions of blocks.",
            (
                ((ACROSS, "columns // width"), (ROWS, "rows // height")),
                ((ACROSS, "round(columns / width)"), (ROWS, "round(rows / height)")),
                ((ACROSS, "columns / width"), (ROWS, "rows / height")),
            )),
        Mistake("one block too many where it fits exactly",
            "n // each + 1 launches a block of idle threads whenever it fits exactly.",
            (((ACROSS, "columns // width + 1"), (ROWS, "rows // height + 1")),)),
        Mistake("blocks in y are limited in another way",
            "A grid has at most 65,535 blocks in y: with more the launch of a tall image fails, and with as many the "
            "kernel's loop goes on where the grid ends. It is the number of blocks that ends there, not the rows: "
            "min(65535, blocks), and no remainder.",
            (
                (DOWN, "down"), ("65_535", "65_536"), (DOWN, "(min(65_535, rows) + height - 1) // height"),
                (DOWN, "down % 65_536"), ("min(", "max("),
            )),
        Mistake("a block that has not 256 threads",
            "Every block has 256 threads: its width is 32, 16, 8, 4, 2 or 1, and its height is 256 // width.",
            (("256 // width", "8"), (LOOP, "width = min(32, columns)"), ("256 // width", "min(rows, 256 // width)"))),
        Mistake("another width than the row asks for",
            "A block is 32 wide, as many as a warp has lanes, and narrower only where a whole row fits into half of "
            "that: a row of 17 columns wants 32, one of 16 wants 16, and with 3 columns 29 of 32 lanes would be idle.",
            (
                (LOOP, "pass"), (">= columns", "> columns"), (LOOP, "width = 16"), (LOOP, "width = 8"),
                ("width = 32", "width = 256"), ("width // 2 >= columns", "width > max(1, columns)"),
            )),
        Mistake("the grid does not fit the block",
            "The block is right, and the grid is not. It counts blocks, not threads: columns / width, rounded "
            "up, in x and rows / height, rounded up, in y, worked out after width and height have their last values.",
            ((GRID, "((columns + 31) // 32, min(65_535, (rows + 7) // 8))"), (GRID, "(columns, min(65_535, rows))"))),
    ),
)  # fmt: skip
