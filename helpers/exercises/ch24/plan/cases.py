from __future__ import annotations

from helpers.checking.exercise import Case


def cases() -> list[Case]:
    import torch

    x, odd = torch.zeros(8, 64), torch.zeros(8, 67)
    half, double = torch.zeros(8, 64, dtype=torch.float16), torch.zeros(8, 66, dtype=torch.float64)
    given = (
        ("a fresh FP32 matrix, 8 × 64", x, "packs"),
        ("the same transposed", x.t(), "copy"),
        ("every second column", x[:, ::2], "copy"),
        ("no rows", x[:0], "skip"),
        ("no columns", x[:, :0], "skip"),
        ("columns 1 to 4", x[:, 1:5], "single"),
        ("columns 4 to 11", x[:, 4:12], "packs"),
        ("every second row", x[::2], "packs"),
        ("rows of 67 floats", odd, "single"),
        ("64 columns of rows of 67", odd[:, :64], "single"),
        ("the first two of these rows", odd[:2, :64], "single"),
        ("the first of these rows", odd[:1, :64], "packs"),
        ("the second of these rows", odd[1:2, :64], "single"),
        ("one row for all", x[:1].expand(8, 64), "packs"),
        ("63 columns of rows of 64", x[:, :63], "single"),
        ("60 columns of rows of 64", x[:, :60], "packs"),
        ("FP16, 60 columns of rows of 64", half[:, :60], "single"),
        ("FP16, columns 4 to 11", half[:, 4:12], "single"),
        ("FP16, columns 8 to 15", half[:, 8:16], "packs"),
        ("FP64, rows of 66", double, "packs"),
        ("FP64, columns 2 to 5", double[:, 2:6], "packs"),
        ("FP64, columns 1 to 4", double[:, 1:5], "single"),
        ("a single element", x[:1, :1], "single"),
    )
    return [Case(name, (tensor,), expected=wanted) for name, tensor, wanted in given]
