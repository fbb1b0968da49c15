"""Exercises on CPU and GPU: what Amdahl's law leaves, where a GPU begins to pay, and a loop made a kernel."""

from __future__ import annotations

import math

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Budget, Exercise, Mistake, thread_1d
from helpers.checking.one_a_thread import FIRST_BLOCK, GAPS, LAST_LEFT_OUT, NOTHING_RETURNED, WRONG_INDEX
from helpers.exercises import ch01_cases as cases
from helpers.exercises.ch01_cases import MEASURED, SECTOR, WARP

EXERCISES = (
    Exercise(
        key="ch01.speedup",
        title="what the whole gains",
        language="python",
        name="speedup",
        cases=cases.speedup_cases,
        mistakes=(
            Mistake(
                "the copies are left out",
                cases.speedup(lambda p, s, c: 1 / (1 - p + p / s)),
                "That is Amdahl's law as he wrote it. Copying is time that was not there before: add it to the new "
                "time.",
            ),
            Mistake(
                "the copies become faster too",
                cases.speedup(lambda p, s, c: 1 / (1 - p + (p + c) / s)),
                "The GPU makes its share faster, not the link to it: only the share is divided by the factor.",
            ),
            Mistake(
                "that is the new time",
                cases.speedup(lambda p, s, c: 1 - p + p / s + c),
                "You return the new time, as a part of the old one. A speed-up is old time divided by new time.",
            ),
            Mistake(
                "that is the most it could ever be",
                cases.speedup(lambda p, s, c: 1 / (1 - p)),
                "1 / (1 - share) is what an endlessly fast GPU with free copies would give. This one has a factor.",
            ),
            Mistake(
                "speed-ups are averaged",
                cases.speedup(lambda p, s, c: 1 - p + p * s),
                "A share made 1,024 times as fast does not count 1,024-fold: it shrinks. Add *times*, then divide.",
            ),
            Mistake(
                "a share times a factor",
                cases.speedup(lambda p, s, c: p * s),
                "Half of it twice as fast would gain nothing by that rule. Start from times: with the old one as 1, "
                "which pieces has the new one?",
            ),
            Mistake(
                "copies are taken off the speed-up",
                cases.speedup(lambda p, s, c: 1 / (1 - p + p / s) - c),
                "Copies are time, a speed-up is a ratio of times. Add them to the new time, before you divide.",
            ),
            Mistake(
                "share and rest are swapped",
                cases.speedup(lambda p, s, c: 1 / (p + (1 - p) / s + c)),
                "`share` is the part that becomes faster; 1 - share is the part that stays.",
            ),
            Mistake(
                "what stays as it was is left out",
                cases.speedup(lambda p, s, c: 1 / (p / s + c)),
                "The new time has three pieces. 1 - share of the old time is still there, as slow as before.",
            ),
            Mistake(
                "brackets are missing",
                cases.speedup(lambda p, s, c: 1 / (1 - p) + p / s + c),
                "A division comes before a sum: 1 / (1 - share) is divided alone. Put the whole new time in brackets.",
            ),
            Mistake(
                "all of it becomes faster",
                lambda e: any(
                    cases.speedup(wrong)(e)
                    for wrong in (lambda p, s, c: 1 / (1 - p + 1 / s + c), lambda p, s, c: 1 / (1 / s + c))
                ),
                "The factor divides the share alone: share / factor. 1 / factor is what the whole would take.",
            ),
            Mistake(
                "the share takes longer, not shorter",
                cases.speedup(lambda p, s, c: 1 / (1 - p + p * s + c)),
                "`factor` times as fast takes a factor-th of the time: share / factor.",
            ),
            Mistake(
                "that is the time saved",
                cases.speedup(lambda p, s, c: p - p / s - c),
                "That is the old time less the new one. A speed-up is the old time divided by the new one.",
            ),
            Mistake(
                "the copies save time",
                cases.speedup(lambda p, s, c: 1 / (1 - p + p / s - c)),
                "Copies make the new time longer: they are added to it.",
            ),
            Mistake(
                "the arguments are taken in another order",
                cases.speedup(lambda p, s, c: cases.whole(s, p, c)),
                "They come as share, factor, copies.",
            ),
            Mistake(
                "rounded",
                cases.speedup(lambda p, s, c: round(cases.whole(p, s, c), 2)),
                "Nearly: return the number as it is, and round it where it is printed.",
            ),
            NOTHING_RETURNED,
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
        cases=cases.border_cases,
        mistakes=(
            Mistake(
                "microseconds taken for nanoseconds",
                cases.rounded_somehow(lambda cpu, gpu, start: start / (cpu - gpu)),
                "The start is given in microseconds, an element in nanoseconds: 1 µs is 1,000 ns.",
            ),
            Mistake(
                "the GPU's own elements are free",
                cases.rounded_somehow(lambda cpu, gpu, start: 1000 * start / cpu),
                "Each element saves the CPU's time less the GPU's: divide by the difference of the two.",
            ),
            Mistake(
                "equally fast counts as faster",
                cases.all_are(lambda cpu, gpu, start: math.ceil(1000 * start / (cpu - gpu))),
                "Where the quotient is whole, both take equally long there. The GPU is faster one element later.",
            ),
            Mistake(
                "one element too few",
                lambda e: any(
                    cases.all_are(lambda cpu, gpu, start, r=r: r(1000 * start / (cpu - gpu)))(e)
                    for r in (math.floor, round)
                ),
                "Rounding down, or to the nearest, gives a size at which the GPU is not yet faster. Test your "
                "answer and the one below it.",
            ),
            Mistake(
                "one element too many",
                lambda e: any(
                    cases.all_are(lambda cpu, gpu, start, r=r: r(1000 * start / (cpu - gpu)) + 1)(e)
                    for r in (math.ceil, round)
                ),
                "Rounded up and one more is too far where the quotient is not whole: round *down*, then add 1.",
            ),
            Mistake(
                "the two times are added",
                cases.rounded_somehow(lambda cpu, gpu, start: 1000 * start / (cpu + gpu)),
                "An element on the GPU saves what the CPU would have taken, less what the GPU takes: a difference.",
            ),
            Mistake(
                "the difference is the wrong way round",
                cases.rounded_somehow(lambda cpu, gpu, start: 1000 * start / (gpu - cpu)),
                "A size below zero: each element saves cpu_ns - gpu_ns.",
            ),
            Mistake(
                "the CPU's own elements are free",
                cases.rounded_somehow(lambda cpu, gpu, start: 1000 * start / gpu),
                "Each element saves the CPU's time less the GPU's: divide by the difference of the two.",
            ),
            Mistake(
                "nothing to start is taken for never",
                lambda e: all(o.ok == bool(o.case.arguments[2]) for o in cases.where_it_pays(e)),
                "With nothing to start the GPU is faster from the first element on. 0 is a time like another.",
            ),
            NOTHING_RETURNED,
            Mistake(
                "the start divided by the CPU's time",
                cases.all_are(lambda cpu, gpu, start: start / cpu),
                "That leaves out the GPU's own time for each element, and divides microseconds by nanoseconds. Write "
                "down what n elements take on either.",
            ),
            Mistake(
                "a size that is no whole number",
                lambda e: all(isinstance(o.got, float) for o in cases.where_it_pays(e)),
                "Asked is the first whole number of elements at which the GPU is faster, not where the two lines meet.",
            ),
            Mistake(
                "a GPU that is never faster",
                cases.wrong_where_never,
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
        cases=cases.standard_cases,
        thread_of=thread_1d,
        mistakes=(
            FIRST_BLOCK,
            WRONG_INDEX,
            Mistake(
                "no guard",
                known.out_of_bounds,
                "The last block has more threads than there are elements left: ask `if i < x.size:` first, and not <=.",
            ),
            Mistake(
                "cut off before it is scaled",
                known.gives(cases.clipped_first),
                "The limits are for the result: subtract, multiply, and only then cut off.",
            ),
            Mistake(
                "cut off on one side only",
                lambda e: any(
                    cases.computes(cut)(e)
                    for cut in (
                        lambda x, m, s, limit: np.minimum((x - m) * s, limit),
                        lambda x, m, s, limit: np.maximum((x - m) * s, -limit),
                    )
                ),
                "min(…, limit) holds the top, max(…, -limit) the bottom. Both are needed.",
            ),
            Mistake(
                "min and max swapped",
                lambda e: any(
                    cases.computes(lambda x, m, s, limit, n=n: np.full_like(x, n * limit))(e) for n in (1, -1)
                ),
                "Every result is the same limit, whatever x is. max(value, -limit) lifts what is too low, "
                "min(…, limit) lowers what is too high; and the value comes from x.",
            ),
            Mistake(
                "what is beyond a limit is lost",
                lambda e: (
                    known.gives(cases.zero_beyond)(e)
                    or (known.partly_written(e) and all(cases.beyond(o.case)[o.untouched].all() for o in e.outcomes))
                ),
                "A value above the limit becomes the limit, one below -limit becomes -limit. They are neither 0 nor "
                "left unwritten.",
            ),
            Mistake(
                "the value is computed in another way",
                lambda e: any(
                    cases.computes(lambda x, m, s, n, w=w: np.clip(w(x, m, s), -n, n))(e) for w in cases.OTHER_VALUES
                ),
                "First the mean is taken away from x[i], then the difference is multiplied by scale: "
                "(x[i] - mean) * scale.",
            ),
            Mistake(
                "never cut off",
                known.gives(lambda c: (c.arguments[0] - c.arguments[1]) * c.arguments[2]),
                "What is beyond the limit, on either side, should come out as the limit.",
            ),
            Mistake(
                "one thread does it all",
                lambda e: known.spent(e, "idle lanes in each instruction") > 30,
                "The loop still runs, in one thread alone, of the grid or of its warp. The warp issues every "
                "instruction for 1 lane of 32. Drop the loop: the grid is the loop, and cuda.grid(1) its index.",
            ),
            Mistake(
                "every thread does everything",
                lambda e: known.spent(e, "load sectors an element") == MEASURED / WARP,
                "All lanes are busy, with the same work: each thread goes through the whole array. Give each thread "
                "the one element that cuda.grid(1) names.",
            ),
            Mistake(
                "elements are computed more than once",
                known.over("instructions for 32 elements"),
                "Right, but a loop does again what one turn has done, or what other threads do as well. Give each "
                "thread the one element that cuda.grid(1) names.",
            ),
            Mistake(
                "neighbouring threads work far apart",
                known.over("sectors per load request"),
                "A thread with several elements in a row leaves gaps between its neighbours. One thread, one element.",
            ),
            Mistake(
                "loaded again",
                known.over("load sectors an element"),
                "Right, but x[i] is loaded once more after a store: the compiler cannot know that out is another array "
                "than x. Keep the value in a variable.",
            ),
            LAST_LEFT_OUT,
            GAPS,
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
                120,
                "Each element is computed once, by one thread.",
                line_by="instructions",
            ),
            Budget(
                "sectors per load request",
                lambda p: p["global_load_sectors"] / max(1, p["global_load_requests"]),
                4.2,
                "32 neighbouring floats are four sectors.",
            ),
            Budget(
                "load sectors an element",
                lambda p: p["global_load_sectors"] / MEASURED,
                4 / SECTOR,
                "32 neighbouring floats are four sectors.",
            ),
        ),
        measured=cases.measured,
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
