from __future__ import annotations

from helpers.checking.exercise import Case

# name, rows (operation, total ns, instances), by how many times each could be made faster
GIVEN: tuple[tuple[str, list[tuple[str, int, int]], dict[str, float]], ...] = (
    ("one kernel and its copies", [("add", 800, 1), ("H2D", 150, 4), ("D2H", 50, 4)], {"add": 2, "H2D": 3, "D2H": 3}),
    ("the largest row is as fast as it can be", [("gemm", 700, 10), ("softmax", 300, 40)], {"gemm": 1, "softmax": 3}),
    ("a little from much, much from little", [("gemm", 900, 5), ("dropout", 60, 5), ("copy", 40, 90)],
     {"gemm": 1.125, "dropout": 20, "copy": 40}),
    ("the greatest factor saves least", [("norm", 400, 8), ("gelu", 350, 8), ("fill", 10, 99)],
     {"norm": 1.25, "gelu": 5, "fill": 10}),
    ("many short ones", [("attention", 500, 1), ("add_", 300, 600), ("mul_", 200, 600)],
     {"attention": 1.25, "add_": 6, "mul_": 4}),
)  # fmt: skip


def _worth(rows: list, factors: dict) -> tuple[str, float]:
    whole = sum(total for _, total, _ in rows)
    saved = {name: total - total / factors[name] for name, total, _ in rows}
    best = max(saved, key=saved.__getitem__)
    return best, round(whole / (whole - saved[best]), 2)


def cases() -> list[Case]:
    return [Case(name, (rows, factors), expected=_worth(rows, factors)) for name, rows, factors in GIVEN]
