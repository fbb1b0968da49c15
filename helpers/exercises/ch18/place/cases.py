from __future__ import annotations

from helpers.checking.exercise import Case

GIVEN = (  # free blocks, bytes requested
    ((512,), 1), ((512,), 512), ((1024,), 600), ((512, 1024, 512), 1), ((4096, 8192, 3072), 1900),
    ((2048, 8192, 4096), 2049), ((3072, 2560, 2560), 2000), ((1024, 2048), 2049), ((), 5),
    ((6144, 5120, 1536, 5632), 4608),
)  # fmt: skip


def _case(free: tuple[int, ...], nbytes: int) -> Case:
    size = -(-nbytes // 512) * 512
    fitting = [(block, at) for at, block in enumerate(free) if block >= size]
    wanted = None
    if fitting:
        block, at = min(fitting)
        rest = [block - size] if block > size else []
        wanted = [*free[:at], *rest, *free[at + 1 :]]
    return Case(f"{nbytes} bytes from {list(free)}", (list(free), nbytes), expected=wanted)


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]
