from __future__ import annotations

from helpers.checking.exercise import Case

GIVEN = (
    (512, 16_384, 4, 96 * 2**20),  # all rows fit at once, exactly
    (512, 16_384, 4, 96 * 2**20 - 1),
    (512, 16_384, 4, 12 * 2**20),
    (8192, 128_000, 2, 2**30),
    (8192, 128_000, 4, 10**9),
    (10, 100, 4, 3 * 100 * 4 * 3),  # three rows at once: 3 + 3 + 3 + 1
    (10, 100, 4, 3 * 100 * 4 * 4),
    (10, 100, 4, 3 * 100 * 4 * 4 - 1),  # a little less than four rows
    (7, 1000, 2, 6000),  # one row at once
    (7, 1000, 2, 5999),  # not even one
    (1, 50, 4, 10**6),
    (1, 50, 4, 599),
)


def _fits(chunks: int, tokens: int, words: int, itemsize: int, limit: int) -> bool:
    return 3 * -(-tokens // chunks) * words * itemsize <= limit


def _case(*given: int) -> Case:
    tokens, words, itemsize, limit = given
    wanted = next((chunks for chunks in range(1, tokens + 1) if _fits(chunks, *given)), 0)
    name = f"{tokens:,} tokens, {words:,} words, {itemsize} bytes a number, limit {limit:,}"
    return Case(name, given, expected=wanted)


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]
