from __future__ import annotations

from helpers.checking.exercise import Case, plural

LAUNCHES = ((1, 1, 32), (256, 1, 256), (257, 1, 256), (2**20, 512, 256), (2**20, 64, 256), (10_000, 7, 128),
            (97, 4, 64), (2**26, 1024, 1024))  # fmt: skip


def _case(n: int, blocks: int, threads: int) -> Case:
    each = (n + blocks * threads - 1) // (blocks * threads)
    name = f"{plural(n, 'element')}, {plural(blocks, 'block')} of {threads} threads"
    return Case(name, (n, blocks, threads), expected=each + threads.bit_length() - 1 + blocks)


def cases() -> list[Case]:
    return [_case(*launch) for launch in LAUNCHES]
