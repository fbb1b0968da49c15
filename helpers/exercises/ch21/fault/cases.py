from __future__ import annotations

from helpers.checking.exercise import Case

NAN, INF = float("nan"), float("inf")
# name, the gradient before and after backward(), the weights before and after the step, what is wrong
STEPS = (
    ("all is well", [0.0, 0.0], [0.5, -2.0], [1.0, 3.0], [0.75, 4.0], "none"),
    ("no gradient yet, and all is well", None, [0.5, -2.0], [1.0, 3.0], [0.75, 4.0], "none"),
    ("a gradient of which one number is 0", None, [0.0, -2.0], [1.0, 3.0], [1.0, 4.0], "none"),
    ("still no gradient afterwards", None, None, [1.0, 3.0], [1.0, 3.0], "no backward"),
    ("the gradient is 0 before and after", [0.0, 0.0], [0.0, 0.0], [1.0, 3.0], [1.0, 3.0], "no backward"),
    ("a gradient, and the weights stay", None, [0.5, -2.0], [1.0, 3.0], [1.0, 3.0], "no step"),
    ("the weights stay, after zero_grad", [0.0, 0.0], [4.0, 0.0], [1.0, 3.0], [1.0, 3.0], "no step"),
    ("the gradient of the step before is there", [0.5, -2.0], [1.0, -4.0], [1.0, 3.0], [0.5, 5.0], "no zero_grad"),
    ("an old gradient that cancels in a sum", [2.0, -2.0], [3.0, -4.0], [1.0, 3.0], [0.5, 5.0], "no zero_grad"),
    ("an old gradient in one place", [0.0, 1.0], [3.0, -4.0], [1.0, 3.0], [0.5, 5.0], "no zero_grad"),
    ("a gradient that is no number", None, [NAN, -2.0], [1.0, 3.0], [NAN, 5.0], "not finite"),
    ("an infinite gradient", [0.0, 0.0], [1.0, -INF], [1.0, 3.0], [0.5, INF], "not finite"),
    ("no number, and nothing was set to 0", [NAN, 1.0], [NAN, 2.0], [NAN, 3.0], [NAN, 2.0], "not finite"),
)


def _case(
    name: str,
    stale: list[float] | None,
    gradient: list[float] | None,
    before: list[float],
    after: list[float],
    wanted: str,
) -> Case:
    return Case(name, (stale, gradient, before, after), expected=wanted)


def cases() -> list[Case]:
    return [_case(*row) for row in STEPS]
