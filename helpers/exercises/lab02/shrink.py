"""An image whose rows have a pitch, halved."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural, seeds
from helpers.exercises.lab02.budgets import COALESCED_LOADS, COALESCED_STORES

TILE = (32, 8)
UNTOUCHED = np.float32(-7)
PAIR = "reinterpret_cast<const float2*>(x + y * pitch)[c]"
XY = "int c = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;"


def _case(rows: int, columns: int, seed: int = 0) -> Case:
    pitch, out_pitch = 8 * cover(columns, 8) + 8, 8 * cover(columns // 2, 8)
    x = np.full((rows, pitch), np.nan, np.float32)  # what lies behind a row is not of the image
    x[:, :columns] = numbers((rows, columns), seed=seed or rows)
    initial = np.full((rows, out_pitch), UNTOUCHED)
    half = columns // 2
    wanted = initial.copy()
    wanted[:, :half] = (x[:, 0 : 2 * half : 2] + x[:, 1 : 2 * half : 2]) / 2
    sizes = map(np.int32, (rows, columns, pitch, out_pitch))
    longest = max(rows, half)  # so that both ways of using x and y reach every element
    grid = (cover(longest, TILE[0]), cover(longest, TILE[1]))
    name = f"{plural(rows, 'row')} × {plural(columns, 'column')}, pitch {pitch}"
    return Case(name, (x.ravel(), Out(wanted.ravel(), initial.ravel()), *sizes), grid, TILE)


def _drawn(dice: np.random.Generator) -> list[Case]:
    shapes = [(1, dice.integers(3, 60)), (dice.integers(3, 9), dice.integers(60, 100)), (dice.integers(40, 70), 5)]
    shapes += [(dice.integers(24, 40), dice.integers(130, 250))]
    return [_case(*map(int, shape), seed) for shape, seed in zip(shapes, seeds(dice, 4), strict=True)]


EXERCISE = Exercise(
    key="lab02.shrink",
    title="half the columns, rows with a pitch, in CUDA C",
    language="cuda",
    name="shrink",
    cases=lambda: [_case(*shape) for shape in ((1, 2), (1, 71), (70, 3), (13, 37), (37, 26), (32, 128))],
    measured=lambda: _case(30, 200),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(COALESCED_LOADS, COALESCED_STORES),
    hints=(
        "Where does row y begin, in x and in out? And how wide is what a thread loads?",
        "reinterpret_cast<const float2*>(x + y * pitch)[c] is pair c of row y: its .x and its .y.",
        "if (y < rows && c < columns / 2) { float2 p = …; out[y * out_pitch + c] = 0.5f * (p.x + p.y); }",
    ),
    why="A pitch that is a multiple of 8 floats lets every row begin with a sector, so that no warp pays for a fifth "
    "one, and a float2 or float4 may be loaded anywhere in a row. The two scalar loads would be strided by 2: each "
    "moves all the sectors of 32 pairs and uses half of the bytes. What lies behind a row may be anything, here NaN; "
    "reading over it is harmless in time and fatal in a sum. cudaMallocPitch chooses such a pitch for you, and says it "
    "in bytes.",
    stretch="halve the rows too: four pixels become one. How many loads does a thread need, and how wide?",
    mistakes=(
        Mistake(
            "not the mean of the two",
            "The pairs are the right ones, and what is made of them is not their mean: 0.5f * (p.x + p.y), both of "
            "them, and in brackets.",
            (
                ("0.5f * (p.x + p.y)", "fmaxf(p.x, p.y)"), ("0.5f * (p.x + p.y)", "0.5f * p.x + p.y"),
                ("0.5f * (p.x + p.y)", "p.x"), ("p.x + p.y", "p.y - p.x"), ("p.x + p.y", "p.x - p.y"),
                ("(p.x + p.y)", "p.x"), ("0.5f * (p.x + p.y)", "p.x + 0.5f * p.y"), ("0.5f * (p.x + p.y)", "p.y"),
            ),
        ),
        Mistake(
            "pairs that overlap",
            "Pixel c of the result comes from the columns 2 * c and 2 * c + 1, not from c and c + 1.",
            ((PAIR, "make_float2(x[y * pitch + c], x[y * pitch + c + 1])"),),
        ),
        Mistake(
            "the pitch of x is forgotten",
            "Row y of x begins at y * pitch. y * columns would be so if nothing stood between the rows.",
            ((PAIR, "make_float2(x[y * columns + 2 * c], x[y * columns + 2 * c + 1])"),),
        ),
        Mistake(
            "something is stored behind the rows",
            "The image is right, and the padding of out is not as it was. A row has columns / 2 elements, and what "
            "comes behind them is not yours.",
            (("c < columns / 2", "c < out_pitch"), ("c < columns / 2", "c < (columns + 1) / 2")),
        ),
        Mistake(
            "the two pitches are mixed up",
            "Some rows are not where they belong. x has rows `pitch` floats apart, out has rows `out_pitch` floats "
            "apart; both count floats, not bytes.",
            (
                ("x + y * pitch", "x + y * out_pitch"), ("y * out_pitch", "y * (columns / 2)"),
                ("(x + y * pitch)", "(reinterpret_cast<const char*>(x) + y * pitch)"),
                ("y * out_pitch", "y * pitch"), ("y * out_pitch", "y * (pitch / 2)"),
            ),
        ),
        Mistake(
            "no guard below",
            "Some thread left an array: blocks are 32 × 8, and rows and columns / 2 say how far the image goes, "
            "y < rows and c < columns / 2, with < and not <=.",
            (
                ("y < rows && ", ""), ("y < rows && c < columns / 2", "true"), ("y < rows", "y <= rows"),
                ("y < rows && c < columns / 2", "c < rows && y < columns / 2"),
            ),
        ),
        Mistake(
            "an index that leads too far",
            "Some thread left an array, and one row of two columns is kept to. Row y begins at y * pitch in x, and at "
            "y * out_pitch in out, in floats; a float2 is two of them, and a row has columns / 2 pairs.",
            (("columns / 2", "columns"), ("(x + y * pitch)[c]", "(x)[y * pitch + c]"), ("pitch)[c]", "pitch)[2 * c]")),
        ),
        Mistake(
            "the same work many times",
            "The result is right, but several threads or blocks do the same. Each pixel has one owner in the grid.",
            (("if (y < rows && c < columns / 2)", "if (c < columns / 2) for (y = 0; y < rows; ++y)"),),
        ),
        Mistake(
            "lanes down the rows",
            "The result is right, but the lanes of a warp are in different rows, or one works alone. Let x, in which "
            "lanes differ, run along a row.",
            (
                (XY, "int y = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y * blockDim.y + threadIdx.y;"),
                ("if (y < rows && c < columns / 2)", "if (c == 0 && y < rows) for (; c < columns / 2; ++c)"),
                ("if (y < rows && c < columns / 2)",
                 "if (c == 0 && y == 0) for (; y < rows; ++y) for (c = 0; c < columns / 2; ++c)"),
            ),
        ),
        Mistake(
            "both of a pair by themselves",
            "The result is right. But the request for the left ones of all pairs brings the right ones too, and the "
            "second request brings them again. A float2 is a pair.",
            ((PAIR, "make_float2(x[y * pitch + 2 * c], x[y * pitch + 2 * c + 1])"),),
        ),
    ),
)  # fmt: skip
