from __future__ import annotations

from helpers.checking.exercise import Case

SHAPES = ((16, 16, 16), (1, 1, 1), (64, 128, 10), (64, 128, 1000), (17, 16, 48), (400, 64, 128), (33, 50, 7))


def _case(rows: int, inner: int, columns: int) -> Case:
    products = -(-rows // 16) * -(-inner // 16) * -(-columns // 16)
    wanted = 100 * rows * inner * columns / (products * 16**3)
    return Case(f"({rows} × {inner}) by ({inner} × {columns})", (rows, inner, columns), expected=(products, wanted))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]
