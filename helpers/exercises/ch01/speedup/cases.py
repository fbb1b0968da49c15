from __future__ import annotations

from helpers.checking.exercise import Case

# Shares and factors are sums and powers of two, so that every order of computing rounds alike.
SPEEDUPS = (
    ("half of it twice as fast", 0.5, 2.0, 0.0),
    ("three quarters four times as fast", 0.75, 4.0, 0.0),
    ("seven eighths 16 times as fast, copies take an eighth", 0.875, 16.0, 0.125),
    ("three quarters 1,024 times as fast, copies take a quarter", 0.75, 1024.0, 0.25),
    ("half of it 8 times as fast, copies take as long as the whole did", 0.5, 8.0, 1.0),
    ("nothing of it", 0.0, 64.0, 0.0),
    ("all of it", 1.0, 64.0, 0.0),
)


def _case(name: str, share: float, factor: float, copies: float) -> Case:
    return Case(name, (share, factor, copies), expected=1 / (1 - share + share / factor + copies))


def cases() -> list[Case]:
    return [_case(*row) for row in SPEEDUPS]
