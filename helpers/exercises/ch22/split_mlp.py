"""An MLP over ranks: the first matrix by columns, the second by rows, and one sum at the end."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, numbers, plural

ROWS = (
    (1, 1, 1, 1, 1),
    (2, 3, 4, 2, 2),
    (5, 4, 6, 3, 3),
    (3, 6, 8, 6, 4),
    (4, 2, 12, 5, 2),
)  # batch, in, hidden, out, n
MINE = "slice(rank * part, (rank + 1) * part)"
BIAS = "\n    if rank == 0:\n        out = out + b2"


def _case(batch: int, inputs: int, hidden: int, outputs: int, ranks: int) -> Case:
    x, w1, b1 = numbers((batch, inputs), seed=1), numbers((inputs, hidden), seed=2), numbers(hidden, seed=3)
    w2, b2 = numbers((hidden, outputs), seed=4), numbers(outputs, seed=5)
    part = hidden // ranks
    parts = []
    for rank in range(ranks):
        mine = slice(rank * part, (rank + 1) * part)
        out = np.maximum(x @ w1[:, mine] + b1[mine], 0) @ w2[mine]
        parts.append(out + b2 if rank == 0 else out)
    name = f"{batch} × {inputs} through {plural(hidden, 'hidden unit')} to {outputs}, {plural(ranks, 'rank')}"
    return Case(name, (x, w1, b1, w2, b2, ranks), expected=np.stack(parts))


EXERCISE = Exercise(
    key="ch22.split_mlp",
    title="an MLP split by columns, then by rows",
    language="python",
    name="partial_outputs",
    cases=lambda: [_case(*row) for row in ROWS],
    tolerance=1e-4,
    hints=(
        "A hidden unit needs one column of the first matrix, one element of its bias, and one row of the second "
        "matrix.",
        "Rank r has the hidden units from r · part to (r + 1) · part. ReLU works on each unit by itself, so that "
        "nothing "
        "has to be exchanged before it.",
        "out = relu(x @ w1[:, mine] + b1[mine]) @ w2[mine]; the sum over the ranks must hold b2 once, so rank 0 "
        "adds it.",
    ),
    solution=f"""
import numpy as np

def partial_outputs(x, w1, b1, w2, b2, ranks):
    part = w1.shape[1] // ranks
    return np.stack([partial(x, w1, b1, w2, b2, rank, part) for rank in range(ranks)])

def partial(x, w1, b1, w2, b2, rank, part):
    mine = {MINE}
    hidden = np.maximum(x @ w1[:, mine] + b1[mine], 0)
    out = hidden @ w2[mine]{BIAS}
    return out
""",
    why="A product is a sum over the inner index, here over hidden units. Each rank has some of the units, so it "
    "has some "
    "of the summands of every output, and one all-reduce adds them up. The activation stands between the two products "
    "and sees whole hidden units, because the first matrix is cut by columns. Cut by rows first, each rank would hold "
    "part of every unit's sum, and ReLU of a part is not part of ReLU: a second all-reduce would be needed.",
    stretch="which sum over ranks does the backward pass need, and for which tensor?",
    mistakes=(
        Mistake(
            "the bias is added on every rank",
            "The parts are summed, so a bias that every rank adds is counted n times.",
            ((BIAS, "\n    out = out + b2"),),
        ),
        Mistake(
            "the second bias is left out",
            "The sum of all parts has to hold b2 once: let rank 0 add it.",
            ((BIAS, ""),),
        ),
        Mistake(
            "ReLU is left out",
            "The activation stands between the two products, on hidden units.",
            (("np.maximum(x @ w1[:, mine] + b1[mine], 0)", "x @ w1[:, mine] + b1[mine]"),),
        ),
        Mistake(
            "ReLU comes after the second product",
            "ReLU works on hidden units. Applied to parts of outputs it cuts off what other ranks would have made "
            "up for.",
            ((("np.maximum(x @ w1[:, mine] + b1[mine], 0)", "x @ w1[:, mine] + b1[mine]"),
              ("out = hidden @ w2[mine]", "out = np.maximum(hidden @ w2[mine], 0)")),),
        ),
        Mistake(
            "the first bias is left out",
            "Each hidden unit has an element of b1, which belongs to the rank of that unit.",
            ((" + b1[mine]", ""),),
        ),
        Mistake(
            "every rank has the same units",
            "Rank r has hidden units of its own, which begin at r · part.",
            ((MINE, "slice(0, part)"),),
        ),
        Mistake(
            "units in turn, not in blocks",
            "The units of a rank lie side by side: from r · part to (r + 1) · part.",
            ((MINE, "slice(rank, None, w1.shape[1] // part)"),),
        ),
        Mistake(
            "every rank has the whole result",
            "Each rank is to compute its own part, of which the sum is the whole.",
            (((MINE, "slice(None)"),), ((MINE, "slice(None)"), (BIAS, "\n    out = out + b2"))),
        ),
    ),
)  # fmt: skip
