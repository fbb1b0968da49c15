"""Exercises on CPU and GPU: what Amdahl's law leaves, where a GPU begins to pay, and a loop made a kernel."""

from __future__ import annotations

import math

import numpy as np

from helpers.exercises import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d
from helpers.exercises import mistakes as known
from helpers.exercises.ch00 import FIRST_BLOCK

BLOCK = 64
SIZES = (1, 31, 64, 97, 128, 1000)
MEASURED = 4096
WARP, SECTOR = 32, 32


# -- a share, a factor, a transfer ------------------------------------------------------------------------

# Shares and factors are sums and powers of two, so that every order of computing rounds alike.
_SPEEDUPS = (
    ("half of it twice as fast", 0.5, 2.0, 0.0),
    ("three quarters four times as fast", 0.75, 4.0, 0.0),
    ("seven eighths 16 times as fast, copies take an eighth", 0.875, 16.0, 0.125),
    ("three quarters 1,024 times as fast, copies take a quarter", 0.75, 1024.0, 0.25),
    ("half of it 8 times as fast, copies take as long as the whole did", 0.5, 8.0, 1.0),
    ("nothing of it", 0.0, 64.0, 0.0),
    ("all of it", 1.0, 64.0, 0.0),
)


def _whole(share: float, factor: float, copies: float) -> float:
    return 1 / (1 - share + share / factor + copies)


def _speedup_cases() -> list[Case]:
    return [Case(name, (p, s, c), expected=_whole(p, s, c)) for name, p, s, c in _SPEEDUPS]


def _speedup(wrong):
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
            isinstance(o.got, int | float) and math.isclose(o.got, wanted, rel_tol=1e-9) for o, wanted in seen
        )

    return when


# -- from which size on -------------------------------------------------------------------------------------

_BORDERS = (
    # CPU and GPU nanoseconds an element, microseconds for launch and copies
    ("4 ns against 1 ns, 6 µs to start", 4.0, 1.0, 6.0),
    ("1 ns against 0.5 ns, 10 µs to start", 1.0, 0.5, 10.0),
    ("0.5 ns against 0.125 ns, 5 µs to start", 0.5, 0.125, 5.0),
    ("2 ns against 0.25 ns, nothing to start", 2.0, 0.25, 0.0),
    ("0.5 ns against 0.5 ns: never", 0.5, 0.5, 5.0),
    ("0.25 ns against 0.5 ns: never", 0.25, 0.5, 5.0),
    ("0.25 ns against 0.5 ns, nothing to start: never", 0.25, 0.5, 0.0),
)


def _border(cpu_ns: float, gpu_ns: float, start_us: float) -> int | None:
    if gpu_ns >= cpu_ns:
        return None
    return math.floor(1000 * start_us / (cpu_ns - gpu_ns)) + 1


def _border_cases() -> list[Case]:
    return [Case(name, (cpu, gpu, start), expected=_border(cpu, gpu, start)) for name, cpu, gpu, start in _BORDERS]


def _where_it_pays(evidence) -> list:
    return [o for o in evidence.outcomes if o.case.expected is not None]


def _all_are(wrong):
    """Where a GPU pays at all, the function gives `wrong(cpu_ns, gpu_ns, start_us)`, and that is not right."""

    def when(evidence) -> bool:
        seen = _where_it_pays(evidence)
        return any(not o.ok for o in seen) and all(o.error is None and o.got == wrong(*o.case.arguments) for o in seen)

    return when


def _wrong_where_never(evidence) -> bool:
    never = [o for o in evidence.outcomes if o.case.expected is None]
    return all(o.ok for o in _where_it_pays(evidence)) and any(not o.ok for o in never)


# -- a loop made a kernel -----------------------------------------------------------------------------------


def _standard(x, mean, scale, limit):
    return np.clip((x - np.float32(mean)) * np.float32(scale), -limit, limit).astype(np.float32)


def _standard_case(name: str, x, mean: float, scale: float, limit: float) -> Case:
    arguments = (x, *map(np.float32, (mean, scale, limit)), Out(_standard(x, mean, scale, limit)))
    return Case(name, arguments, (cover(x.size, BLOCK),), (BLOCK,))


def _standard_cases() -> list[Case]:
    return [_standard_case(plural(n, "element"), numbers(n, seed=n), 0.5, 0.5, 2) for n in SIZES] + [
        _standard_case("97 elements, all alike", np.full(97, 2.5, np.float32), 2.5, 4, 1),
        _standard_case("97 elements, hardly any cut off", numbers(97), 1, 0.125, 1),
    ]


def _measured() -> Case:
    return _standard_case(plural(MEASURED, "element"), numbers(MEASURED), 0.5, 0.5, 2)


def _clipped_first(case):
    x, mean, scale, limit, _ = case.arguments
    return (np.clip(x, -limit, limit) - mean) * scale


EXERCISES = (
    Exercise(
        key="ch01.speedup",
        title="what the whole gains",
        language="python",
        name="speedup",
        cases=_speedup_cases,
        mistakes=(
            Mistake(
                "the copies are left out",
                _speedup(lambda p, s, c: 1 / (1 - p + p / s)),
                "That is Amdahl's law as he wrote it. Copying is time that was not there before: add it to the new "
                "time.",
            ),
            Mistake(
                "the copies become faster too",
                _speedup(lambda p, s, c: 1 / (1 - p + (p + c) / s)),
                "The GPU makes its share faster, not the link to it: only the share is divided by the factor.",
            ),
            Mistake(
                "that is the new time",
                _speedup(lambda p, s, c: 1 - p + p / s + c),
                "You return the new time, as a part of the old one. A speed-up is old time divided by new time.",
            ),
            Mistake(
                "that is the most it could ever be",
                _speedup(lambda p, s, c: 1 / (1 - p)),
                "1 / (1 - share) is what an endlessly fast GPU with free copies would give. This one has a factor.",
            ),
            Mistake(
                "speed-ups are averaged",
                _speedup(lambda p, s, c: 1 - p + p * s),
                "A share made 1,024 times as fast does not count 1,024-fold: it shrinks. Add *times*, then divide.",
            ),
            Mistake(
                "a share times a factor",
                _speedup(lambda p, s, c: p * s),
                "Half of it twice as fast would gain nothing by that rule. Start from times: with the old one as 1, "
                "which pieces has the new one?",
            ),
            Mistake(
                "copies are taken off the speed-up",
                _speedup(lambda p, s, c: 1 / (1 - p + p / s) - c),
                "Copies are time, a speed-up is a ratio of times. Add them to the new time, before you divide.",
            ),
            Mistake(
                "share and rest are swapped",
                _speedup(lambda p, s, c: 1 / (p + (1 - p) / s + c)),
                "`share` is the part that becomes faster; 1 - share is the part that stays.",
            ),
        ),
        hints=(
            "Let the old time be 1. Which three pieces has the new time?",
            "What stays: 1 - share. What becomes faster: share / factor. What is new: copies.",
            "return 1 / (1 - share + share / factor + copies)",
        ),
        solution="""
def speedup(share, factor, copies):
    stays, shrinks = 1 - share, share / factor
    return 1 / (stays + shrinks + copies)
""",
        why=(
            "All times are parts of the old one, so the old time is 1 and the speed-up is 1 divided by the new time. "
            "The copies stand beside what stays: no factor, however large, touches either. With copies as long as the "
            "old program the result is below 1, whatever the GPU does."
        ),
        stretch="how large may `copies` be before an endlessly fast GPU is slower than no GPU?",
    ),
    Exercise(
        key="ch01.border",
        title="from which size on",
        language="python",
        name="break_even",
        cases=_border_cases,
        mistakes=(
            Mistake(
                "microseconds taken for nanoseconds",
                _all_are(lambda cpu, gpu, start: math.floor(start / (cpu - gpu)) + 1),
                "The start is given in microseconds, an element in nanoseconds: 1 µs is 1,000 ns.",
            ),
            Mistake(
                "the GPU's own elements are free",
                _all_are(lambda cpu, gpu, start: math.floor(1000 * start / cpu) + 1),
                "Each element saves the CPU's time less the GPU's: divide by the difference of the two.",
            ),
            Mistake(
                "equally fast counts as faster",
                _all_are(lambda cpu, gpu, start: math.ceil(1000 * start / (cpu - gpu))),
                "Where the quotient is whole, both take equally long there. The GPU is faster one element later.",
            ),
            Mistake(
                "one element too few",
                _all_are(lambda cpu, gpu, start: math.floor(1000 * start / (cpu - gpu))),
                "Rounding down gives a size at which the GPU is not yet faster. Test your answer and the one below it.",
            ),
            Mistake(
                "the start divided by the CPU's time",
                _all_are(lambda cpu, gpu, start: start / cpu),
                "That leaves out the GPU's own time for each element, and divides microseconds by nanoseconds. Write "
                "down what n elements take on either.",
            ),
            Mistake(
                "a size that is no whole number",
                lambda e: all(isinstance(o.got, float) for o in _where_it_pays(e)),
                "Asked is the first whole number of elements at which the GPU is faster, not where the two lines meet.",
            ),
            Mistake(
                "a GPU that is never faster",
                _wrong_where_never,
                "Where an element takes the GPU as long as the CPU, or longer, no size makes up for the start: return "
                "None before you divide.",
            ),
        ),
        hints=(
            "Write both times for n elements. Which of them starts at zero?",
            "The CPU takes n * cpu_ns, the GPU 1000 * start_us + n * gpu_ns. Solve for n, and mind gpu_ns >= cpu_ns.",
            "math.floor(1000 * start_us / (cpu_ns - gpu_ns)) + 1, and None where the difference is not positive.",
        ),
        solution="""
import math

def break_even(cpu_ns, gpu_ns, start_us):
    saved = cpu_ns - gpu_ns
    if saved <= 0:
        return None
    return math.floor(1000 * start_us / saved) + 1
""",
        why=(
            "Every element saves cpu_ns - gpu_ns, and together they have to save more than the start costs. The first "
            "whole number above the quotient does, also where the quotient is whole itself. If nothing is saved the "
            "lines never cross."
        ),
        stretch="let the start be copied once for `launches` launches. What happens to the border?",
    ),
    Exercise(
        key="ch01.standardise",
        title="a loop becomes a kernel",
        language="numba",
        name="standardise",
        cases=_standard_cases,
        thread_of=thread_1d,
        mistakes=(
            FIRST_BLOCK,
            Mistake(
                "no guard",
                known.out_of_bounds,
                "The last block has more threads than there are elements left: ask `if i < x.size:` first.",
            ),
            Mistake(
                "cut off before it is scaled",
                known.gives(_clipped_first),
                "The limits are for the result: subtract, multiply, and only then cut off.",
            ),
            Mistake(
                "cut off on one side only",
                known.gives(lambda c: np.minimum((c.arguments[0] - c.arguments[1]) * c.arguments[2], c.arguments[3])),
                "min(…, limit) holds the top. Numbers far below the mean need max(…, -limit) as well.",
            ),
            Mistake(
                "min and max swapped",
                known.gives(lambda c: np.full_like(c.arguments[0], c.arguments[3])),
                "Every result is the limit. max(value, -limit) lifts what is too low, min(…, limit) lowers what is too "
                "high.",
            ),
            Mistake(
                "never cut off",
                known.gives(lambda c: (c.arguments[0] - c.arguments[1]) * c.arguments[2]),
                "What is beyond the limit, on either side, should come out as the limit.",
            ),
            Mistake(
                "one thread does it all",
                known.over("idle lanes in each instruction"),
                "The loop still runs, in a single thread. Its warp issues every instruction for 1 lane of 32. Drop the "
                "loop: the grid is the loop, and cuda.grid(1) its index.",
            ),
            Mistake(
                "every thread does everything",
                known.over("instructions for 32 elements"),
                "All lanes are busy, with the same work: each thread goes through the whole array. Give each thread "
                "the one element that cuda.grid(1) names.",
            ),
            Mistake(
                "neighbouring threads work far apart",
                known.over("load sectors an element"),
                "A thread with four elements of its own leaves gaps between its neighbours. One thread, one element.",
            ),
        ),
        budgets=(
            Budget(
                "idle lanes in each instruction",
                lambda p: WARP - p["lanes_per_instruction"],
                4,
                "One instruction works for 32 lanes, if 32 threads come along.",
                line_by="instructions",
            ),
            Budget(
                "instructions for 32 elements",
                lambda p: p["instructions"] / (MEASURED / WARP),
                60,
                "Each element is computed once, by one thread.",
                line_by="instructions",
            ),
            Budget(
                "load sectors an element",
                lambda p: p["global_load_sectors"] / MEASURED,
                4 / SECTOR,
                "32 neighbouring floats are four sectors.",
            ),
        ),
        measured=_measured,
        hints=(
            "Which element would the loop have reached when this thread's turn came? Ask cuda.grid(1).",
            "The `for` goes; `if i < x.size:` stays in its place. Keep the value in a variable until it is done.",
            "Inside the guard: value = (x[i] - mean) * scale, then out[i] = min(max(value, -limit), limit).",
        ),
        solution="""
@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        value = (x[i] - mean) * scale
        out[i] = min(max(value, -limit), limit)
""",
        why=(
            "The grid is the loop: its index comes from cuda.grid(1), its end from the guard. Three operations are one "
            "kernel, so each element is loaded once and stored once, and what lies between stays in a register."
        ),
        stretch="as three kernels, one an operation, how many sectors would move? Profile them, and add up.",
    ),
)
