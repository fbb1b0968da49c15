from __future__ import annotations

from helpers.checking.exercise import Case, plural

PLANS = ((1, 1, 1), (1, 2, 100), (2, 1, 4), (3, 2, 8), (3, 3, 1000), (4, 5, 16), (1, 8, 8))


def _case(inputs: int, consumers: int, elements: int) -> Case:
    stored = inputs + 1 + 2 * consumers
    recomputed = consumers * (inputs + 1)
    name = f"{plural(inputs, 'input')}, {plural(consumers, 'consumer')}, {plural(elements, 'element')}"
    expected = (4 * elements * stored, 4 * elements * recomputed)
    return Case(name, (inputs, consumers, elements), expected=expected)


def cases() -> list[Case]:
    return [_case(*plan) for plan in PLANS]
