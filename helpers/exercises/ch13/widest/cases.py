from __future__ import annotations

from helpers.checking.exercise import Case

BLOCKS = (
    # shared bytes, registers a thread, threads, step
    (48 * 1024, 255, 256, 8),
    (48 * 1024, 128, 256, 8),
    (48 * 1024, 64, 64, 8),
    (48 * 1024, 255, 1024, 32),
    (16 * 1024, 255, 256, 32),
    (163 * 1024, 255, 512, 16),
    (99 * 1024, 168, 128, 16),
    (8 * 1024, 255, 256, 8),
    (1024, 104, 256, 1),
    (48 * 1024, 41, 32, 8),
    (12, 255, 32, 1),
)


def _widest(shared_bytes: int, registers: int, threads: int, step: int) -> int:
    width = 1
    while 2 * (2 * width) * step * 4 <= shared_bytes and (2 * width) ** 2 / threads + 40 <= registers:
        width *= 2
    return width


def _case(shared_bytes: int, registers: int, threads: int, step: int) -> Case:
    name = f"{shared_bytes:,} bytes, {registers} registers, {threads} threads, step {step}"
    given = (shared_bytes, registers, threads, step)
    return Case(name, given, expected=_widest(*given))


def cases() -> list[Case]:
    return [_case(*block) for block in BLOCKS]
