from __future__ import annotations

from helpers.checking.exercise import Case

MATRICES = (
    (16, 16, 16, 4, 4),
    (16, 64, 64, 2, 16),
    (12, 8, 8, 4, 2),
    (32, 12, 16, 8, 3),
    (6, 10, 13, 3, 5),
)


def _case(rows: int, columns: int, pitch: int, tile_rows: int, tile_columns: int) -> Case:
    """Each stride from two places that are one step apart in its part."""
    place = lambda row, column: pitch * row + column
    within, between = (place(1, 0), place(0, 1)), (place(tile_rows, 0), place(0, tile_columns))
    shape = (tile_rows, tile_columns), (rows // tile_rows, columns // tile_columns)
    name = f"({rows},{columns}):({pitch},1) in tiles of {tile_rows} × {tile_columns}"
    return Case(name, (rows, columns, pitch, tile_rows, tile_columns), expected=(shape, (within, between)))


def cases() -> list[Case]:
    return [_case(*one) for one in MATRICES]
