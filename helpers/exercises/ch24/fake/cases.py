from __future__ import annotations

from typing import Any

from helpers.checking.exercise import Case

GIVEN = (  # rows, columns, dtype, how the tensor lies in memory
    (6, 24, "float32", "contiguous"),
    (5, 24, "float32", "transposed"),
    (7, 1, "float16", "contiguous"),
    (3, 16, "bfloat16", "sliced"),
    (4, 4, "float64", "transposed"),
    (1, 9, "float64", "contiguous"),
    (0, 8, "float16", "contiguous"),
    (2, 40, "float16", "expanded"),
)


def _described(got: Any) -> tuple[list, None]:
    """Shape, strides, dtype and device of each tensor."""
    return [(tuple(each.shape), each.stride(), str(each.dtype), each.device.type) for each in got], None


def _case(rows: int, columns: int, kind: str, lies: str) -> Case:
    import torch

    dtype = getattr(torch, kind)
    x = {
        "contiguous": torch.empty(rows, columns, dtype=dtype, device="meta"),
        "transposed": torch.empty(columns, rows, dtype=dtype, device="meta").t(),
        "sliced": torch.empty(rows, columns + 3, dtype=dtype, device="meta")[:, 1 : columns + 1],
        "expanded": torch.empty(1, columns, dtype=dtype, device="meta").expand(rows, columns),
    }[lies]
    matrix = ((rows, columns), (columns, 1), f"torch.{kind}", "meta")
    roots = ((rows,), (1,), "torch.float64" if kind == "float64" else "torch.float32", "meta")
    arguments = (x, torch.empty_like(x), torch.empty(columns, dtype=dtype, device="meta"))
    return Case(f"{rows} × {columns}, {kind}, {lies}", arguments, expected=[matrix, matrix, roots], plays=_described)


def cases() -> list[Case]:
    return [_case(*each) for each in GIVEN]
