from __future__ import annotations

from helpers.checking.exercise import Case, cover, plural

LAUNCHES = (
    (1, 1), (130, 48), (1000, 128), (4096, 256), (9600, 100), (100, 1024), (33, 33), (66, 33), (64, 96), (10**6, 192),
    (97, 32),
)  # fmt: skip


def _case(n: int, threads: int) -> Case:
    lanes = cover(n, threads) * cover(threads, 32) * 32
    return Case(f"{plural(n, 'element')}, blocks of {threads}", (n, threads), expected=lanes - n)


def cases() -> list[Case]:
    return [_case(*launch) for launch in LAUNCHES]
