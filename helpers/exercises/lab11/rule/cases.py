from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, plural


def _followed(overflows: list, scale: float, growth: float, backoff: float, interval: int) -> tuple[list, int]:
    used, clean, steps = [], 0, 0
    for overflow in overflows:
        used.append(scale)
        if overflow:
            scale, clean = scale * backoff, 0
            continue
        steps, clean = steps + 1, clean + 1
        if clean == interval:
            scale, clean = scale * growth, 0
    return used, steps


def _case(overflows: str, scale: float, growth: float, backoff: float, interval: int, name: str = "") -> Case:
    """`overflows`: a letter for each step, "x" for one that overflows."""
    history = [each == "x" for each in overflows]
    needs = (history, float(scale), growth, backoff, interval)
    told = overflows if len(overflows) < 20 else plural(len(overflows), "step")
    what = name or f"{told or 'no step'}, from {scale:g}, × {growth:g} or {backoff:g}, interval {interval}"
    return Case(what, needs, expected=_followed(*needs))


def drawn(dice: np.random.Generator) -> list[Case]:
    cases = []
    for index, share in enumerate((0.0, 0.1, 0.3, 0.1)):
        steps = "".join("x" if hit else "." for hit in dice.random(int(dice.integers(20, 60))) < share)
        factors = float(dice.choice([2.0, 1.5, 4.0])), float(dice.choice([0.5, 0.25, 0.125]))
        cases.append(
            _case(steps, 2.0 ** int(dice.integers(4, 17)), *factors, int(dice.integers(2, 7)), f"drawn {index}")
        )
    return cases


def cases() -> list[Case]:
    return [
        _case("", 1024, 2, 0.5, 3),
        _case(".", 1024, 2, 0.5, 1),
        _case("x..", 65536, 2, 0.5, 10),
        _case(".......", 1024, 2, 0.5, 3),
        _case("..x.....", 1024, 2, 0.5, 3),
        _case("..x.x....x", 4096, 1.5, 0.25, 2),
        _case("xxx...xx......", 65536, 4, 0.125, 3),
    ]
