"""The size from which on a GPU is faster, with a start that takes its time."""

from __future__ import annotations

import math

from helpers.checking.exercise import Case, Exercise, Mistake

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
QUOTIENT = "1000 * start_us / saved"
UP = f"math.floor({QUOTIENT}) + 1"


def _case(name: str, cpu_ns: float, gpu_ns: float, start_us: float) -> Case:
    saved = cpu_ns - gpu_ns
    border = math.floor(1000 * start_us / saved) + 1 if saved > 0 else None
    return Case(name, (cpu_ns, gpu_ns, start_us), expected=border)


def _in_any_way(quotient: str) -> tuple[tuple[str, str], ...]:
    """Another quotient, made whole in the usual ways, or not."""
    return tuple((UP, whole.format(quotient)) for whole in ("math.floor({}) + 1", "math.ceil({})", "{}"))


EXERCISE = Exercise(
    key="ch01.border",
    title="from which size on",
    language="python",
    name="break_even",
    cases=lambda: [_case(*row) for row in BORDERS],
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
    why="Every element saves cpu_ns - gpu_ns, and together they have to save more than the start costs. The first "
    "whole number above the quotient does, also where the quotient is whole itself. If nothing is saved the lines "
    "never cross.",
    stretch="let the start be copied once for `launches` launches. What happens to the border?",
    mistakes=(
        Mistake(
            "microseconds taken for nanoseconds",
            "The start is given in microseconds, an element in nanoseconds: 1 µs is 1,000 ns.",
            (*_in_any_way("start_us / saved"), ("1000 * start_us", "start_us / 1000")),
        ),
        Mistake(
            "divided by another time than an element saves",
            "Each element saves what the CPU would have taken, less what the GPU takes: divide by the difference of "
            "the two, cpu_ns - gpu_ns.",
            (
                *_in_any_way("1000 * start_us / cpu_ns"), *_in_any_way("1000 * start_us / gpu_ns"),
                *_in_any_way("1000 * start_us / (cpu_ns + gpu_ns)"), *_in_any_way("-1000 * start_us / saved"),
            ),
        ),
        Mistake(
            "the start divided by the CPU's time",
            "That leaves out the GPU's own time for each element, and divides microseconds by nanoseconds. Write down "
            "what n elements take on either.",
            (*_in_any_way("start_us / cpu_ns"), "    return start_us / cpu_ns"),
        ),
        Mistake(
            "equally fast counts as faster",
            "Where the quotient is whole, both take equally long there. The GPU is faster one element later.",
            ((UP, f"math.ceil({QUOTIENT})"), (UP, f"max(1, math.ceil({QUOTIENT}))")),
        ),
        Mistake(
            "one element too few",
            "Rounding down, or to the nearest, gives a size at which the GPU is not yet faster. Test your answer and "
            "the one below it.",
            ((" + 1", ""), (UP, f"round({QUOTIENT})")),
        ),
        Mistake(
            "one element too many",
            "Rounded up and one more is too far where the quotient is not whole: round *down*, then add 1.",
            (("floor", "ceil"), ("math.floor", "round")),
        ),
        Mistake(
            "nothing to start is taken for never",
            "With nothing to start the GPU is faster from the first element on. 0 is a time like another.",
            (("saved <= 0", "saved <= 0 or not start_us"),),
        ),
        Mistake(
            "a size that is no whole number",
            "Asked is the first whole number of elements at which the GPU is faster, not where the two lines meet.",
            ((UP, QUOTIENT), (UP, f"{QUOTIENT} + 1")),
        ),
        Mistake(
            "a GPU that is never faster",
            "Where an element takes the GPU as long as the CPU, or longer, no size makes up for the start: return "
            "None before you divide.",
            (
                ("    if saved <= 0:\n        return None\n", ""), ("saved <= 0", "saved < 0"), ("<=", "=="),
                ("return None", "return 0"), ("return None", "return -1"), ("return None", "return float('inf')"),
            ),
        ),
    ),
)  # fmt: skip
