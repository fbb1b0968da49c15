from __future__ import annotations

from helpers.checking.exercise import Case

LISTS = (
    ["pointwise"],
    ["pointwise", "pointwise", "pointwise"],
    ["matmul", "pointwise", "pointwise"],
    ["matmul", "matmul"],
    ["row", "pointwise", "row", "pointwise"],
    ["row", "pointwise", "column"],
    ["pointwise", "column", "pointwise", "row", "row"],
    ["matmul", "pointwise", "row", "pointwise", "matmul", "pointwise", "column", "row"],
)


def _count(kinds: list[str]) -> int:
    kernels, axis, opened = 0, None, False
    for kind in kinds:
        if kind == "matmul":
            kernels, axis, opened = kernels + 1, None, False
            continue
        if not opened or (kind != "pointwise" and axis not in (None, kind)):
            kernels, axis, opened = kernels + 1, None, True
        if kind != "pointwise":
            axis = kind
    return kernels


def cases() -> list[Case]:
    return [Case(", ".join(kinds), (kinds,), expected=_count(kinds)) for kinds in LISTS]
