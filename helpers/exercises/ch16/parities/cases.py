from __future__ import annotations

from helpers.checking.exercise import Case, plural

TILES = ((0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 3), (6, 3), (11, 4), (12, 4))


def _case(tile: int, stages: int) -> Case:
    round_ = tile // stages
    return Case(f"tile {tile}, {plural(stages, 'stage')}", (tile, stages), expected=(round_ % 2, (round_ + 1) % 2))


def cases() -> list[Case]:
    return [_case(*each) for each in TILES]
