from __future__ import annotations

from helpers.checking.exercise import Case

LOGS: tuple[tuple[float, dict[str, tuple[float, float]]], ...] = (
    (100.0, {"copies": (40.0, 4.0), "softmax": (10.0, 100.0)}),
    (100.0, {"copies": (10.0, 1000.0), "launches": (60.0, 2.0)}),
    (100.0, {"a": (20.0, 10.0), "b": (25.0, 1.5)}),
    (1000.0, {"convolution": (500.0, 1.1), "waits": (200.0, 20.0), "update": (150.0, 50.0)}),
    (50.0, {"only": (5.0, 2.0)}),
    (80.0, {"slower": (40.0, 0.5), "same": (40.0, 1.0)}),
    (80.0, {"slower": (40.0, 0.5)}),
    (10.0, {}),
)  # step, {suspect: (its part of the step, how many times as fast it becomes)}


def _next(step: float, suspects: dict[str, tuple[float, float]]) -> tuple[str | None, float]:
    left = {name: step - part + part / factor for name, (part, factor) in suspects.items()}
    name = min(left, key=left.__getitem__, default=None)
    return (name, left[name]) if name is not None and left[name] < step else (None, step)


def _case(step: float, suspects: dict) -> Case:
    told = ", ".join(f"{name} {part:g} by {factor:g}" for name, (part, factor) in suspects.items()) or "no suspects"
    return Case(f"a step of {step:g}: {told}", (step, dict(suspects)), expected=_next(step, suspects))


def cases() -> list[Case]:
    return [_case(*row) for row in LOGS]
