"""The cases of chapter 01's exercises, and what answers to them give away."""

from __future__ import annotations

import math

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK = 64
SIZES = (1, 31, 64, 97, 128, 1000)
MEASURED = 4096
WARP, SECTOR = 32, 32


# -- a share, a factor, a transfer ------------------------------------------------------------------------

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


def whole(share: float, factor: float, copies: float) -> float:
    return 1 / (1 - share + share / factor + copies)


def speedup_cases() -> list[Case]:
    return [Case(name, (p, s, c), expected=whole(p, s, c)) for name, p, s, c in SPEEDUPS]


def speedup(wrong):
    """The function gives what `wrong(share, factor, copies)` does, where that has a value."""

    def value(case):
        try:
            return wrong(*case.arguments)
        except ZeroDivisionError:
            return math.nan

    def when(evidence) -> bool:
        pairs = [(o, value(o.case)) for o in evidence.outcomes]
        seen = [(o, wanted) for o, wanted in pairs if not math.isnan(wanted)]
        return any(not o.ok for o, _ in seen) and all(
            isinstance(o.got, int | float | np.floating) and math.isclose(o.got, wanted, rel_tol=1e-9)
            for o, wanted in seen
        )

    return when


# -- from which size on -------------------------------------------------------------------------------------

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


def border(cpu_ns: float, gpu_ns: float, start_us: float) -> int | None:
    if gpu_ns >= cpu_ns:
        return None
    return math.floor(1000 * start_us / (cpu_ns - gpu_ns)) + 1


def border_cases() -> list[Case]:
    return [Case(name, (cpu, gpu, start), expected=border(cpu, gpu, start)) for name, cpu, gpu, start in BORDERS]


def where_it_pays(evidence) -> list:
    return [o for o in evidence.outcomes if o.case.expected is not None]


def all_are(wrong):
    """Where a GPU pays at all, the function gives `wrong(cpu_ns, gpu_ns, start_us)`, and that is not right."""

    def when(evidence) -> bool:
        seen = where_it_pays(evidence)
        return any(not o.ok for o in seen) and all(o.error is None and o.got == wrong(*o.case.arguments) for o in seen)

    return when


def rounded_somehow(wrong):
    """As `all_are`, with the number as it is, or made whole in any of the usual ways."""
    ways = (lambda n: n, math.floor, math.ceil, round, lambda n: math.floor(n) + 1)
    return lambda evidence: any(all_are(lambda *given, w=way: w(wrong(*given)))(evidence) for way in ways)


def wrong_where_never(evidence) -> bool:
    never = [o for o in evidence.outcomes if o.case.expected is None]
    return all(o.ok for o in where_it_pays(evidence)) and any(not o.ok for o in never)


# -- a loop made a kernel -----------------------------------------------------------------------------------


def standard(x, mean, scale, limit):
    return np.clip((x - np.float32(mean)) * np.float32(scale), -limit, limit).astype(np.float32)


def standard_case(name: str, x, mean: float, scale: float, limit: float) -> Case:
    arguments = (x, *map(np.float32, (mean, scale, limit)), Out(standard(x, mean, scale, limit)))
    return Case(name, arguments, (cover(x.size, BLOCK),), (BLOCK,))


def standard_cases() -> list[Case]:
    return [standard_case(plural(n, "element"), numbers(n, seed=n), 0.5, 0.5, 2) for n in SIZES] + [
        standard_case("97 elements, all alike", np.full(97, 2.5, np.float32), 2.5, 4, 1),
        standard_case("97 elements, hardly any cut off", numbers(97), 1, 0.125, 1),
    ]


def measured() -> Case:
    return standard_case(plural(MEASURED, "element"), numbers(MEASURED), 0.5, 0.5, 2)


def computes(wrong):
    """The result is what `wrong(x, mean, scale, limit)` computes."""
    return known.gives(lambda case: wrong(*case.arguments[:4]))


OTHER_VALUES = (
    lambda x, m, s: x * s - m,
    lambda x, m, s: x - m * s,
    lambda x, m, s: (x - m) / s,
    lambda x, m, s: (x + m) * s,
    lambda x, m, s: (m - x) * s,
    lambda x, m, s: x * s,
    lambda x, m, s: x - m,
)


def beyond(case) -> np.ndarray:
    x, mean, scale, limit, _ = case.arguments
    return np.abs((x - mean) * scale) >= limit


def zero_beyond(case) -> np.ndarray:
    x, mean, scale, limit, _ = case.arguments
    return np.where(np.abs((x - mean) * scale) > limit, 0, case.out.expected)


def clipped_first(case):
    x, mean, scale, limit, _ = case.arguments
    return (np.clip(x, -limit, limit) - mean) * scale
