"""A whole step of an LSTM in one launch: the product with the state, the cell, and sequences that have ended."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import no_conflicts
from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers
from helpers.exercises.lab14 import shared
from helpers.exercises.lab14.kernels import STEP

SIZES = ((1, 1, 0), (1, 33, 2), (5, 3, 1), (7, 64, 9), (37, 20, 4), (16, 16, 3))
MEASURED = (48, 64, 5)
WEIGHT = "other < hidden && k < hidden ? U[(gate * hidden + other) * hidden + k] : 0"
MINE = "row < batch && k < hidden ? state[row * 2 * hidden + k] : 0"
TERM = "mine[y][k] * weights[gate][x][k]"
ACTIVE, NEW_C, NEW_H = "if (t < lengths[row]) {", "c = f * c + i * g;", "h = o * tanhf(c);"
BARRIER = "__syncthreads();\n        for (int k = 0"


def _case(batch: int, hidden: int, t: int, seed: int = 1) -> Case:
    dice = np.random.default_rng(seed)
    from_input, state = shared.sums(batch, 4 * hidden, seed), numbers((batch, 2 * hidden), seed + 1) / 8
    U = numbers((4 * hidden, hidden), seed + 2) / 32
    lengths = dice.integers(1, 3 * t + 3, batch).astype(np.int32)
    lengths[: min(batch, 2)] = (t + 1, t)[: min(batch, 2)]  # the two that tell < from <=
    z = from_input + state[:, :hidden].astype(np.float64) @ U.T.astype(np.float64)
    fresh = shared.masked(z, state, t < lengths).astype(np.float32)
    sizes = (np.int32(t), np.int32(batch), np.int32(hidden))
    grid = (cover(hidden, shared.SIDE), cover(batch, shared.SIDE))
    name = f"{shared.name(batch, hidden)}, step {t}"
    return Case(name, (from_input, U, state, lengths, Out(fresh), *sizes), grid, (shared.SIDE, shared.SIDE))


def _drawn(dice: np.random.Generator) -> list[Case]:
    drawn = [_case(batch, hidden, int(dice.integers(1, 9)), seed) for batch, hidden, seed in shared.sizes(dice)]
    return [*drawn, _case(*MEASURED[:2], int(dice.integers(4, 9)), int(dice.integers(1, 10**6)))]


EXERCISE = Exercise(
    key="lab14.step",
    title="a whole step in one launch, in CUDA C",
    language="cuda",
    name="step",
    cases=lambda: [_case(*size) for size in SIZES],
    measured=lambda: _case(*MEASURED),
    drawn=_drawn,
    sanitize=True,
    also_wrong=shared.ENDED,
    shared_out=True,
    tolerance=1e-4,
    budgets=(shared.LOADED_FOR_TILES, shared.STORED, no_conflicts(0.25, most=32)),
    hints=(
        "One thread has to end up with all four sums of its unit: only then can it go on without another launch. Which "
        "rows of U are those, and who else in the block needs them?",
        "Go through the columns of U 16 at a time. A block loads 16 × 16 elements of h, and four squares of 16 × 16 "
        "from U, one for each gate, all along their rows. Barrier, 16 steps with four products each, barrier.",
        "mine[y][x] = state[row * 2 * hidden + k] and weights[gate][y][x] = U[(gate * hidden + 16 * blockIdx.x + y) * "
        "hidden + k] with k = first + x, or 0 outside, in tiles of 16 × 17. Then z[gate] += mine[y][k] * "
        "weights[gate][x][k].",
    ),
    why="What keeps the product and the cell apart is that a matrix product gives its columns to any threads, while "
    "the cell wants four columns, hidden apart, in one. So the tile is chosen by what comes after: 16 units, and for "
    "each unit its four rows of U. The sums never leave the registers, which saves a launch and the way of four "
    "floats a unit to memory and back. What this kernel cannot do is work in place: other blocks still read the old "
    "h when this one is done. c is another matter, because nobody but its own thread ever reads it. Every step loads "
    "U again; kernels that keep U on the chip for all steps, as cuDNN's persistent ones do, need a barrier among all "
    "blocks.",
    stretch="a GRU has n = tanh(W x + b + r · (U h + b')). Write its step: which sums may be joined here that may not "
    "be joined there?",
    equivalent=(
        (("first < hidden;", "first <= hidden;"), "a tile behind the last column has zeros only"),
        ((MINE, MINE.replace("k <", "k <=")), "the weight beside it is 0"),
        ((MINE, MINE[:-1] + "1"), "the weight beside it is 0, or nothing is stored"),
        ((WEIGHT, WEIGHT[:-1] + "1"), "the h beside it is 0, or nothing is stored"),
        *((("mine[16][17], weights[4][16][17]", f"mine[{a}][{b}], weights[{c}][{d}][{e}]"), "more room than is used")
          for a, b, c, d, e in ((17, 17, 4, 16, 17), (16, 18, 4, 16, 17), (16, 17, 5, 16, 17), (16, 17, 4, 17, 17),
                                (16, 17, 4, 16, 18))),
        (("mine[16][17]", "mine[16][16]"), "is read along its rows"),
        (("float z[4]", "float z[5]"), "more room than is used"),
        *(((f"gate < 4; ++gate) z[gate] += {what}", f"gate {to}; ++gate) z[gate] += {what}"),
           "a fifth sum that nobody reads") for what in ("mine", "from") for to in ("<= 4", "< 5")),
    ),
    mistakes=(
        Mistake("the gates are in another order",
            "Rows of U, and columns of from_input, are stacked as PyTorch does it: i, f, g, o.",
            ((("tanhf(z[2])", "tanhf(z[?])"), ("expf(-z[1])", "expf(-z[2])"), ("z[?]", "z[1]")),
             (("tanhf(z[2])", "tanhf(z[?])"), ("expf(-z[3])", "expf(-z[2])"), ("z[?]", "z[3]")))),
        Mistake("the weights are transposed",
            "U has a row for each gate and unit, and a column for each unit of the old state: row gate * hidden + "
            "unit, column k.",
            ((WEIGHT, "other < hidden && k < hidden ? U[(gate * hidden + k) * hidden + other] : 0"),
             (TERM, "mine[y][k] * weights[gate][k][x]"))),
        Mistake("the product takes c",
            "U is multiplied with the old h, the first half of a row of state. c is the second half.",
            ((MINE, MINE.replace("+ k]", "+ hidden + k]")),)),
        Mistake("one gate's weights for all four",
            "Each gate has rows of its own in U: those of gate number gate begin at gate * hidden.",
            ((WEIGHT, WEIGHT.replace("gate * hidden + other", "other")), (TERM, TERM.replace("gate]", "0]")))),
        Mistake("what comes from the input is left out",
            "The sum before a gate has two parts: the product with the old h, and from_input.",
            (("z[gate] += from_input", "z[gate] += 0 * from_input"),)),
        Mistake("the last columns are dropped",
            "hidden need not be a multiple of 16: go on to the last column, with zeros for what does not exist.",
            (("first < hidden;", "first + 16 <= hidden;"),)),
        Mistake("half of the state is kept",
            "A sequence that has ended keeps its whole state, h and c.",
            (((ACTIVE, "{ float was = h;"), (NEW_H, NEW_H + " if (t >= lengths[row]) h = was;")),
             ((ACTIVE, "{"), (NEW_C, "if (t < lengths[row]) " + NEW_C)))),
        Mistake("nobody ends",
            "A sequence takes part in step t as long as `t < lengths[row]`. Behind its end it keeps its state.",
            ((ACTIVE, "{"),)),
        Mistake("one step too many",
            "A sequence of length 3 has its elements at the steps 0, 1 and 2. At step 3 it has ended.",
            ((ACTIVE, "if (t <= lengths[row]) {"),)),
        Mistake("nothing is stored for a sequence that has ended",
            "fresh is another array than state. Whoever has ended has to be copied, too.",
            ((ACTIVE, "if (t >= lengths[row]) return; {"),)),
        Mistake("h from the old c",
            "h shows the new c: first c = f · c + i · g, then h = o · tanh(c).",
            (((NEW_C, "float was = c; " + NEW_C), (NEW_H, "h = o * tanhf(was);")),)),
        Mistake("sigmoid in place of tanh",
            "The content g lies between -1 and 1, as tanh does, and so does what h shows of c.",
            (("tanhf(z[2])", "1 / (1 + expf(-z[2]))"), (NEW_H, "h = o / (1 + expf(-c));"))),
        Mistake("nobody waits for shared memory",
            "A thread reads what others have loaded, and loads over what others still read. A barrier stands between "
            "loading and reading, and another between reading and the next loading.",
            ((BARRIER, BARRIER[17:]), ("        __syncthreads();\n    }", "    }"))),
        Mistake("threads return before a barrier",
            "Threads without a result still load for others, and a barrier wants the whole block. Return behind the "
            "last barrier.",
            (("    float z[4] = {};", "    if (row >= batch || unit >= hidden) return;\n    float z[4] = {};"),)),
        Mistake("the guard knows one of the two sizes",
            "Neither hidden nor batch need be a multiple of 16, so the guard asks for both.",
            (("row >= batch || unit >= hidden", "row >= batch"), ("row >= batch || unit >= hidden", "unit >= hidden"))),
        Mistake("each thread reads for itself",
            "Right, but every thread loads four rows of U and one of h for itself. Let the block load what it "
            "needs into shared memory, 16 columns at a time.",
            (STEP,)),
        Mistake("lanes that meet in a bank",
            "Right, but lanes queue at a bank: in a column of a tile with 16 floats a row, every other word is in the "
            "same one. One unused float a row moves each row on by one bank.",
            (("weights[4][16][17]", "weights[4][16][16]"),)),
    ),
)  # fmt: skip
