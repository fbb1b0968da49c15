"""Causal attention scores: half of a square, so blocks above the diagonal have nothing to multiply."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import no_conflicts
from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, fractions
from helpers.exercises.lab09.budgets import CAUSAL_LOADED, COMPUTED

TILE = 16
SHAPES = ((1, 1, 1), (2, 13, 5), (1, 16, 32), (3, 33, 20), (1, 50, 17))
BELOW = "side <= top"


def _case(heads: int, n: int, d: int, seed: int = 0) -> Case:
    q, k = fractions((heads, n, d), seed or n + d), fractions((heads, n, d), (seed or n + d) + 1)
    scores = np.where(np.tri(n, dtype=bool), q @ k.transpose(0, 2, 1), -np.inf).astype(np.float32)
    blocks = cover(n, TILE)
    return Case(f"{heads} × {n} tokens of {d}", (q, k, Out(scores)), (blocks, blocks, heads), (TILE, TILE))


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [
        (1, int(dice.integers(2, 16)), int(dice.integers(2, 9))),
        tuple(map(int, dice.integers((2, 17, 3), (4, 60, 40)))),
    ]
    whole = (int(dice.integers(1, 3)), TILE * int(dice.integers(5, 8)), 16 * int(dice.integers(1, 4)))
    return [_case(*shape, int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


EXERCISE = Exercise(
    key="lab09.causal",
    title="causal attention scores, in Numba",
    language="numba",
    name="causal",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(2, 96, 32),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    tolerance=1e-4,
    budgets=(COMPUTED, CAUSAL_LOADED, no_conflicts(0.25, most=32)),
    hints=(
        "A block that lies wholly above the diagonal stores -inf and needs nothing else. A barrier wants all threads "
        "of a block, so decide for the block, and not for the thread.",
        "Only where side <= top: go through d in pieces of 16, load 16 rows of q and 16 rows of k along their rows, "
        "barrier, sixteen products, barrier. In the end each thread stores its sum, or -inf where column > row.",
        "mine[y, x] = q[h, top + y, first + x] and yours[y, x] = k[h, side + y, first + x], in tiles of (16, 17), or 0 "
        "outside; the sum grows by mine[y, j] * yours[x, j].",
    ),
    why="A mask that is laid over finished scores throws away half of the work. Which half is known before: whole "
    "tiles above the diagonal are never multiplied, and only tiles on it are masked element by element. The branch "
    "goes by blockIdx alone, so it diverges in no warp and parts no barrier. FlashAttention saves the same half for "
    "causal masks, and never writes the scores at all. Both sides are read along rows, as in any A · Bᵀ, so one is "
    "read down a column of its tile, and padding spreads it over the banks.",
    stretch="blocks above the diagonal still take a place in the grid. Number only those that are needed: which block "
    "has tile (row, column) of a triangle?",
    equivalent=(
        *(((f"{before}cuda.shared.array((16, 17)", f"{before}cuda.shared.array({size}"), "more room than is used")
          for before in ("mine, yours = ", '"float32"), ') for size in ("(17, 17)", "(16, 18)")),
        (("mine, yours = cuda.shared.array((16, 17", "mine, yours = cuda.shared.array((16, 16"), "is read along rows"),
        (("j < q.shape[2] else 0", "j < q.shape[2] else 1"), "the other side is 0 there, or nothing is stored"),
        (("j < k.shape[2] else 0", "j < k.shape[2] else 1"), "the other side is 0 there, or nothing is stored"),
    ),
    mistakes=(
        Mistake("the diagonal is masked",
            "A token may attend to itself: the mask begins above the diagonal, where column > row.",
            (("if column <= row else", "if column < row else"),)),
        Mistake("blocks on the diagonal are left out",
            "Blocks on the diagonal have results, too: those with side == top.",
            ((BELOW, "side < top"),)),
        Mistake("the other half",
            "That is the other triangle. Row i attends to columns j <= i, so what is above the diagonal is -inf.",
            (((BELOW, "side >= top"), ("column <= row", "column >= row")),)),
        Mistake("0 instead of -inf",
            "Masked scores are -inf, because the exponential of softmax turns that into 0. A score of 0 would count.",
            (("-np.inf", "0"), ("-np.inf", "-1e9"))),
        Mistake("nothing is stored above the diagonal",
            "Above the diagonal -inf has to be stored: nothing else writes there. A block that multiplies nothing "
            "stores all the same.",
            (("    if row < n and column < n:", "    if row < n and column <= row:"),
             ("    total = np.float32(0)", "    if side > top:\n        return\n    total = np.float32(0)"))),
        Mistake("one head for all",
            "Every head has scores of its own. blockIdx.z says which: it is the first index of q, k and out.",
            (("h, top, side = cuda.blockIdx.z,", "h, top, side = 0,"),
             (("q[h,", "q[0,"), ("k[h,", "k[0,")))),
        Mistake("the last piece is dropped",
            "The size of a head need not be a multiple of 16: go on until all of it is done.",
            (("range(0, q.shape[2], 16)", "range(0, q.shape[2] // 16 * 16, 16)"),)),
        Mistake("q and k in each other's places",
            "Row i of the scores belongs to row i of q, and column j to row j of k. Here they are exchanged.",
            ((("mine[y, x] = q[", "mine[y, x] = ?["), ("yours[y, x] = k[", "yours[y, x] = q["), ("?[", "k[")),
             ("mine[y, j] * yours[x, j]", "mine[x, j] * yours[y, j]"))),
        Mistake("masked after all is multiplied",
            "Right, but blocks above the diagonal multiply as many as the others, and throw all of it away. Leave "
            "out their loop: the condition goes by the block, as barriers inside it want.",
            (("    if side <= top:  # the", "    if True:  # the"),)),
        Mistake("each thread reads for itself",
            "Right, but each row of q and of k is loaded again for every result. Load 16 rows of each into shared "
            "memory, a piece of 16 columns at a time, and let the whole block use them.",
            ("""    column, row = cuda.grid(2)
    h = cuda.blockIdx.z
    if row < q.shape[1] and column < q.shape[1]:
        total = np.float32(0) if column <= row else np.float32(-np.inf)
        if column <= row:
            for j in range(q.shape[2]):
                total += q[h, row, j] * k[h, column, j]
        out[h, row, column] = total""",)),
        Mistake("lanes that meet in a bank",
            "Right, but lanes queue at a bank: in a column of a tile with 16 floats a row, every other word is in the "
            "same one. One unused float a row moves each row on by one bank.",
            (("(16, 17)", "(16, 16)"),)),
    ),
)  # fmt: skip
