from __future__ import annotations

from helpers.checking.exercise import Case
from helpers.models.layouts import place

C = ((4, 8), (32, 1), (2, 2), (16, 8))
A = ((4, 8), (32, 1), (2, 2, 2), (16, 8, 128))
B = ((4, 8), (16, 1), (2, 2), (8, 64))
ROWS = ((128,), (1,), (8,), (128,))  # tcgen05.ld, 32x32b.x8
SMALL = ((2, 3), (4, 8), (4,), (1,))
ASKED = ((C, 0), (C, 9), (C, 71), (C, 127), (A, 37), (A, 255), (B, 5), (B, 120), (ROWS, 300), (SMALL, 13), (SMALL, 23))


def _case(fragment: tuple[tuple[int, ...], ...], at: int) -> Case:
    thread_shape, thread_stride, value_shape, value_stride = fragment
    table = {}
    for thread in range(_count(thread_shape)):
        for value in range(_count(value_shape)):
            table[place(thread, thread_shape, thread_stride) + place(value, value_shape, value_stride)] = thread, value
    name = f"place {at} of ({thread_shape},{value_shape}):({thread_stride},{value_stride})"
    return Case(name, (*fragment, at), expected=table[at])


def _count(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def cases() -> list[Case]:
    return [_case(*one) for one in ASKED]
