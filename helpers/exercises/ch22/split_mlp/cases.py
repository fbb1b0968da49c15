from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, numbers, plural

ROWS = (
    (1, 1, 1, 1, 1),
    (2, 3, 4, 2, 2),
    (5, 4, 6, 3, 3),
    (3, 6, 8, 6, 4),
    (4, 2, 12, 5, 2),
)  # batch, in, hidden, out, n


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


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]
