from __future__ import annotations

from helpers.checking.exercise import Case, plural

NETWORKS = (  # layers, batch, heads, length, bytes an element
    (1, 1, 1, 1, 4), (1, 1, 1, 7, 4), (1, 3, 2, 5, 2), (12, 8, 12, 1024, 2), (2, 5, 3, 100, 4), (24, 64, 16, 512, 2),
)  # fmt: skip


def _case(layers: int, batch: int, heads: int, length: int, itemsize: int) -> Case:
    name = f"{plural(layers, 'layer')}, batch {batch}, {plural(heads, 'head')}, length {length}, {itemsize} bytes each"
    return Case(name, (layers, batch, heads, length, itemsize), expected=layers * batch * heads * length**2 * itemsize)


def cases() -> list[Case]:
    return [_case(*row) for row in NETWORKS]
