from __future__ import annotations

from helpers.checking.exercise import Case, plural

GIVEN = (  # layers, MiB inside each, MiB of what goes from one to the next
    (1, 5, 5),
    (2, 8, 1),
    (16, 4, 4),
    (16, 16, 1),
    (12, 3, 12),
    (24, 10, 2),
    (7, 6, 2),
    (9, 5, 5),
    (10, 2, 3),
)


def _kept(layers: int, inside: int, between: int, count: int) -> int:
    return count * between + -(-layers // count) * inside


def _case(layers: int, inside: int, between: int) -> Case:
    least, count = min((_kept(layers, inside, between, count), count) for count in range(1, layers + 1))
    name = f"{plural(layers, 'layer')}, {inside} MiB inside each, {between} MiB between them"
    return Case(name, (layers, inside, between), expected=(count, least))


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]
