from __future__ import annotations

from helpers.checking.exercise import Case, plural

LAUNCHES = ((1, 32), (256, 256), (257, 256), (1000, 128), (4096, 64), (2**20, 256), (2**20, 1024), (97, 2))


def _case(n: int, threads: int) -> Case:
    blocks = (n + threads - 1) // threads
    expected = (threads.bit_length() - 1, blocks * (threads - 1), blocks)
    return Case(f"{plural(n, 'element')} in blocks of {threads} threads", (n, threads), expected=expected)


def cases() -> list[Case]:
    return [_case(*launch) for launch in LAUNCHES]
