from __future__ import annotations

from helpers.checking.exercise import Case

GIVEN = (  # hidden units, bytes a number, FLOPs a byte that the GPU wants
    (1024, 4, 9.6), (1024, 2, 9.6), (64, 4, 9.6), (1024, 2, 153.0), (1, 4, 0.3), (512, 4, 39.0), (100, 2, 79.0),
    (16, 4, 6.4), (4096, 2, 153.0), (128, 4, 0.4),
)  # fmt: skip
MOST = 5_000


def _batch(hidden: int, itemsize: int, wanted: float) -> int:
    for batch in range(1, MOST + 1):
        if 8 * batch * hidden**2 >= wanted * itemsize * (4 * hidden**2 + 5 * batch * hidden):
            return batch
    return 0


def _case(hidden: int, itemsize: int, wanted: float) -> Case:
    name = f"{hidden:,} units, {itemsize} bytes a number, {wanted} FLOPs a byte wanted"
    return Case(name, (hidden, itemsize, wanted), expected=_batch(hidden, itemsize, wanted))


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]
