from __future__ import annotations

from helpers.checking.exercise import Case, cover

PAIRS = ((1, 128), (127, 128), (128, 128), (129, 128), (1000, 256), (1024, 256), (7, 32), (10**9, 1024))


def cases() -> list[Case]:
    return [Case(f"blocks({n:,}, {t})", (n, t), expected=cover(n, t)) for n, t in PAIRS]
