from __future__ import annotations

import itertools

from helpers.checking.exercise import Case

GIVEN = (
    ((1, 1), 1), ((256, 512), 64), ((64, 128, 10), 32), ((784, 512, 512, 10), 128), ((3, 5, 2), 7),
    ((10, 1), 16), ((1, 10, 1, 10), 3),
)  # fmt: skip


def _flop(sizes: tuple[int, ...], batch: int) -> int:
    layers = list(itertools.pairwise(sizes))
    return sum(6 * batch * inputs * outputs for inputs, outputs in layers) - 2 * batch * sizes[0] * sizes[1]


def _case(sizes: tuple[int, ...], batch: int) -> Case:
    name = f"sizes {', '.join(map(str, sizes))}, batch {batch}"
    return Case(name, (list(sizes), batch), expected=_flop(sizes, batch))


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]
