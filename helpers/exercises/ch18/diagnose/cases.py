from __future__ import annotations

from helpers.checking.exercise import Case

GIVEN = (  # segments of blocks (MiB, used), MiB that the driver has left, MiB asked for
    (((20, False),), 0, 20), (((20, True),), 40, 22), (((12, True), (8, False)), 40, 8),
    (((10, True), (10, False)), 4, 12), (((6, True), (7, False), (7, True)), 6, 30),
    (((8, False), (4, True), (8, False)), 0, 16), (((8, False), (4, True), (8, False)), 0, 17),
    (((10, True), (10, False), (20, False)), 4, 24), (((6, False), (14, True)), 10, 16), ((), 8, 8), ((), 8, 9),
)  # fmt: skip


def _case(blocks: tuple, left: int, asked: int) -> Case:
    free = [mib for mib, used in blocks if not used]
    if any(mib >= asked for mib in free):
        wanted = "cached"
    elif left >= asked:
        wanted = "driver"
    else:
        wanted = "fragmented" if sum(free) + left >= asked else "full"
    told = ", ".join(f"{mib} {'used' if used else 'free'}" for mib, used in blocks) or "nothing cached"
    return Case(f"{asked} MiB with {told}; driver {left}", (list(blocks), left, asked), expected=wanted)


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]
