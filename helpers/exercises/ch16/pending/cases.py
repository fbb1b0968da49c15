from __future__ import annotations

from helpers.checking.exercise import Case, plural

ROUNDS = ((2, 0, 5), (2, 4, 5), (1, 0, 3), (3, 0, 8), (3, 5, 8), (3, 6, 8), (3, 7, 8), (4, 0, 2), (4, 1, 2), (5, 3, 9))


def _case(stages: int, tile: int, tiles: int) -> Case:
    name = f"{plural(stages, 'stage')}, tile {tile} of {plural(tiles, 'tile')}"
    return Case(name, (stages, tile, tiles), expected=min(stages - 1, tiles - 1 - tile))


def cases() -> list[Case]:
    return [_case(*each) for each in ROUNDS]
