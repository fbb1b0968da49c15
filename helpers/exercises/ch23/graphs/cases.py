from __future__ import annotations

from helpers.checking.exercise import Case, plural

CALLS: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((16, 32),),
    ((16, 32), (16, 32), (16, 32)),
    ((16, 32), (16, 32), (8, 32), (16, 32), (8, 32)),
    ((16, 32), (8, 32), (12, 32), (20, 32), (24, 32)),
    ((16, 32), (16, 24), (16, 40), (8, 32), (8, 48), (4, 32)),
    ((16, 32), (8, 24), (16, 32), (4, 40), (16, 20)),
    ((16, 32, 32), (16, 24, 24), (8, 32, 32), (8, 40, 24), (16, 40, 32)),
    ((16, 32), (8, 32), (8, 32), (8, 24), (4, 32)),
    ((16, 3, 32), (16, 3, 16), (8, 3, 32), (8, 4, 8), (5, 2, 7), (16, 3, 32)),
)


def _graphs(shapes: tuple[tuple[int, ...], ...]) -> int:
    varying: set[int] = set()
    graphs = 1
    for shape in shapes:
        new = {at for at, (size, first) in enumerate(zip(shape, shapes[0], strict=True)) if size != first}
        graphs += not new <= varying
        varying |= new
    return graphs


def cases() -> list[Case]:
    return [
        Case(f"function {number}, {plural(len(shapes), 'call')}", (list(shapes),), expected=_graphs(shapes))
        for number, shapes in enumerate(CALLS, 1)
    ]
