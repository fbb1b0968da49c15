"""An average that follows its row: lanes load and store along rows, and each walks along a row of the tile."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.exercises.lab03.budgets import COALESCED, NO_CONFLICTS, STORES
from helpers.exercises.lab03.cases import SHAPES, shapes_drawn

WARP = 32


def _case(rows: int, n: int, seed: int = 0, weight: float | None = None) -> Case:
    x = numbers((rows, n), seed=seed or n)
    weight = np.float32(weight or (0.5 if n % 2 else 0.25))
    found, now = np.empty(x.shape), x[:, 0].astype(float)
    for column in range(n):
        now = now + float(weight) * (x[:, column] - now)
        found[:, column] = now
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}"
    arguments = (x, Out(found.astype(np.float32)), np.int32(rows), np.int32(n), weight)
    return Case(name, arguments, (cover(rows, WARP),), (WARP,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    return [
        _case(*shape, int(dice.integers(1, 10**6)), int(dice.choice([1, 3, 5, 7])) / 8) for shape in shapes_drawn(dice)
    ]


EXERCISE = Exercise(
    key="lab03.follow",
    title="a running average, a thread for each row, in CUDA C",
    language="cuda",
    name="follow",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(64, 160),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(COALESCED, STORES, NO_CONFLICTS),
    hints=(
        "Who loads need not be who walks. In a tile of 32 × 32, lanes load along a row, and each lane walks along "
        "a row.",
        "For each tile: all lanes load row 0, row 1, …; barrier; lane t walks along tile[t], and leaves there "
        "what it finds; barrier; all lanes store row 0, row 1, … to out.",
        "tile[32][33]; the average lives in a register, `now`, from tile to tile. In the walk, tile[t][k] = now "
        "+= weight * (tile[t][k] - now) for k up to min(32, n - first).",
    ),
    why="Some work has an order, here along a row, and wants a thread for each row; memory wants lanes side by "
    "side in a row. A tile gives both what they want, for a load and a store of shared memory more. The walk "
    "goes down a column of the tile in each step, so the padding decides whether 32 lanes take one wavefront "
    "or 32. This is how filters, recurrences and sequences of a batch are read, whenever time is the last "
    "axis.",
    stretch="the step now → now + w (x − now) is a linear map. Maps can be composed, so a row can be scanned by a "
    "warp.",
    equivalent=(
        (("tile[32]", "tile[33]"), "a row more than is used"),
        (("first < n", "first <= n"), "a tile without columns changes nothing"),
    ),
    mistakes=(
        Mistake(
            "begins at 0",
            "The average begins at the row's first element. From 0 it would need a while to arrive.",
            (("now = tile[t][0]", "now = 0"),),
        ),
        Mistake(
            "each tile begins anew",
            "The average goes on from tile to tile: declare it before the loop over tiles.",
            (("if (first == 0) now", "now"), ("if (first == 0) now = tile[t][0]", "now = 0")),
        ),
        Mistake(
            "the weight is another one",
            "In each step the element counts as much as the argument `weight` says, and what the average was counts 1 "
            "- weight: now + weight * (x - now). Other cases have another weight.",
            (
                ("weight * (", "0.25f * ("),
                ("weight * (", "0.5f * ("),
                ("weight * (", "(1 - weight) * ("),
                ("now += weight", "now -= weight"),
            ),
        ),
        Mistake(
            "a column of each tile is skipped",
            "In each tile the walk leaves out the first or the last column. Only the first column of the row may be "
            "skipped, where the average is the element.",
            (("k < wide", "k < wide - 1"), ("int k = 0", "int k = 1")),
        ),
        Mistake(
            "the first tile again and again",
            "Tiles after the first are loaded from its columns, or stored to them: column t of a tile is column first "
            "+ t of the row.",
            (("x[(top + r) * n + first + t]", "x[(top + r) * n + t]"),
             ("out[(top + r) * n + first + t]", "out[(top + r) * n + t]")),
        ),
        Mistake(
            "tiles are left out",
            "Rows may be longer than 32, and the last tile may be narrower: go on, tile by tile, until all n columns "
            "are done.",
            (("first < n;", "first < min(n, 32);"), ("first < n;", "first + 32 <= n;")),
        ),
        Mistake(
            "lanes that stride over memory",
            "Right, but in a global access the lanes of a warp are a whole row apart, or one does the work of all. "
            "Load a tile along its rows, store it along its rows, and change direction in shared memory.",
            ("""if (t >= here) return;
    int row = top + t;
    float now = x[row * n];
    for (int k = 0; k < n; ++k) out[row * n + k] = now += weight * (x[row * n + k] - now);""",),
        ),
        Mistake(
            "lanes that meet in a bank",
            "Right, but lanes queue at a bank: some use different words that are a multiple of 32 floats apart. In a "
            "column of a tile all 32 do if its rows have 32 floats, and some do whenever that number is even. One "
            "unused float a row moves each row on by one bank.",
            (("[32][33]", "[32][32]"), ("[32][33]", "[32][34]")),
        ),
    ),
)  # fmt: skip
