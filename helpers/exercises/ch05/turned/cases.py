from __future__ import annotations

from helpers.checking.exercise import Case

THREADS = (
    ((0, 0), (0, 0)), ((0, 0), (5, 0)), ((0, 0), (0, 7)), ((2, 0), (5, 7)), ((0, 3), (5, 7)), ((1, 4), (31, 2)),
    ((6, 1), (30, 31)),
)  # fmt: skip


def _case(block: tuple[int, int], thread: tuple[int, int]) -> Case:
    (bx, by), (tx, ty) = block, thread
    stored = (32 * bx + ty, 32 * by + tx), (tx, ty)
    return Case(f"block {block}, thread {thread}", (bx, by, tx, ty), expected=stored)


def cases() -> list[Case]:
    return [_case(*one) for one in THREADS]
