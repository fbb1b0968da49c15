from __future__ import annotations

from helpers.checking.exercise import Case

GIVEN: tuple[tuple[dict[str, int], str, float], ...] = (  # followers of a context, the letter, the shorter context's
    ({"u": 9}, "u", 0.5), ({"u": 9}, "a", 0.5), ({}, "a", 0.125), ({"a": 1, "b": 1}, "a", 0.25),
    ({"a": 1, "b": 1}, "z", 0.01), ({"e": 40, "a": 8, "i": 2}, "i", 0.125), ({"e": 40, "a": 8, "i": 2}, "o", 0.0625),
    ({"x": 1}, "x", 0.001), ({"s": 3, " ": 3, ",": 1, ".": 1}, " ", 0.2), ({"n": 1000}, "m", 0.03),
)  # fmt: skip


def _case(seen: dict[str, int], letter: str, shorter: float) -> Case:
    total, kinds = sum(seen.values()), len(seen)
    wanted = (seen.get(letter, 0) + kinds * shorter) / (total + kinds) if seen else shorter
    followed = ", ".join(f"{each!r} {count} times" for each, count in seen.items()) or "nothing"
    return Case(
        f"after the context: {followed}; {letter!r}, {shorter:g} before", (seen, letter, shorter), expected=wanted
    )


def cases() -> list[Case]:
    return [_case(*row) for row in GIVEN]
