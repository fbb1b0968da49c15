"""Counts in words, for messages, figures and reports alike."""

from __future__ import annotations


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 row`, `1,000 rows`, `2 launches`; `many` where the plural is formed otherwise."""
    ending = "es" if noun.endswith(("s", "ch", "x")) else "s"
    return f"{count:,} {noun if count == 1 else many or noun + ending}"
