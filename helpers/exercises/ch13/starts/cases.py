from __future__ import annotations

from helpers.checking.exercise import Case
from helpers.models.layouts import place

TILES = (
    ((4,), (1,), 24),
    ((6,), (4,), 24),
    ((4,), (2,), 24),
    ((2, 4), (1, 6), 24),
    ((2, 2), (1, 6), 24),
    ((2, 3), (6, 1), 12),
    ((1,), (5,), 3),
    ((2, 2, 2), (1, 4, 16), 64),
    ((4,), (2,), 12),  # the last copy would end past the range
    ((2, 2), (1, 3), 24),  # 0, 1, 3, 4: place 2 can't be filled
    ((2, 2), (0, 1), 8),  # every place twice
    ((2, 2), (2, 3), 16),
)


def _case(shape: tuple[int, ...], stride: tuple[int, ...], limit: int) -> Case:
    """The starts by looking for sums: what the copies cover so far tells where the next one begins."""
    count = 1
    for size in shape:
        count *= size
    tile = [place(i, shape, stride) for i in range(count)]
    starts: list[int] = []
    covered: list[int] = []
    while len(covered) < limit:
        starts.append(next(p for p in range(limit) if p not in covered))
        covered += [starts[-1] + p for p in tile]
        if len(set(covered)) < len(covered) or max(covered) >= limit:
            starts = []
            break
    return Case(f"{shape}:{stride} in {limit} places", (shape, stride, limit), expected=starts)


def cases() -> list[Case]:
    return [_case(*tile) for tile in TILES]
