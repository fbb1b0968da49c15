from __future__ import annotations

from helpers.checking.exercise import Case, plural

RESOURCES = (  # threads a block, registers a thread, shared bytes a block, local bytes a thread
    (1, 32, 0, 0), (32, 16, 0, 128), (128, 40, 4096, 0), (256, 255, 49152, 16), (1024, 64, 100, 4), (96, 24, 8, 1020),
)  # fmt: skip


def _case(threads: int, registers: int, shared: int, local: int) -> Case:
    name = f"{plural(threads, 'thread')}, {registers} registers, {shared} bytes shared, {local} local"
    near = 4 * threads * registers + shared, threads * local
    return Case(name, (threads, registers, shared, local), expected=near)


def cases() -> list[Case]:
    return [_case(*row) for row in RESOURCES]
