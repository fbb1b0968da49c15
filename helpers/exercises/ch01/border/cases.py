from __future__ import annotations

import math

from helpers.checking.exercise import Case

BORDERS = (
    # CPU and GPU nanoseconds an element, microseconds for launch and copies
    ("4 ns against 1 ns, 6 µs to start", 4.0, 1.0, 6.0),
    ("1 ns against 0.5 ns, 10 µs to start", 1.0, 0.5, 10.0),
    ("0.5 ns against 0.125 ns, 5 µs to start", 0.5, 0.125, 5.0),
    ("2 ns against 0.25 ns, nothing to start", 2.0, 0.25, 0.0),
    ("1 ns against 0.25 ns, 2 µs to start", 1.0, 0.25, 2.0),
    ("0.5 ns against 0.5 ns: never", 0.5, 0.5, 5.0),
    ("0.25 ns against 0.5 ns: never", 0.25, 0.5, 5.0),
    ("0.25 ns against 0.5 ns, nothing to start: never", 0.25, 0.5, 0.0),
)


def _case(name: str, cpu_ns: float, gpu_ns: float, start_us: float) -> Case:
    saved = cpu_ns - gpu_ns
    border = math.floor(1000 * start_us / saved) + 1 if saved > 0 else None
    return Case(name, (cpu_ns, gpu_ns, start_us), expected=border)


def cases() -> list[Case]:
    return [_case(*row) for row in BORDERS]
