from __future__ import annotations

from helpers.checking.exercise import Case, plural

SIZES = (  # inputs, hidden units, layers, directions
    (1, 1, 1, 1), (3, 5, 1, 1), (8, 48, 1, 2), (5, 3, 2, 1), (7, 4, 3, 2), (96, 96, 2, 2), (32, 256, 4, 1),
)  # fmt: skip


def _case(inputs: int, hidden: int, layers: int, directions: int) -> Case:
    name = f"{plural(inputs, 'input')}, {hidden} hidden, {plural(layers, 'layer')}, {plural(directions, 'direction')}"
    total = sum(
        directions * 4 * hidden * ((hidden * directions if layer else inputs) + hidden + 2) for layer in range(layers)
    )
    return Case(name, (inputs, hidden, layers, directions), expected=total)


def cases() -> list[Case]:
    return [_case(*row) for row in SIZES]
