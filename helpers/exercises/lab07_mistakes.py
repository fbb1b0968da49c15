"""What is done wrong in the kernels of lab 07, by its traces: mistakes in the order in which they are tried."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Mistake
from helpers.exercises import lab07_cases as cases
from helpers.exercises import lab07_traces as traces

REGISTERS, SPILLS = "registers a thread", "bytes of spills"
LOADED = "bytes loaded per byte needed"
NO_REGISTERS = "requests to local and shared memory"
WAITS = "waits per KiB"


TOP = (
    Mistake(
        "past the eight",
        traces.in_the_thread,
        "A thread has eight places, best[0] to best[7]: is j one of them, whenever best[j] is looked at?",
    ),
    Mistake(
        "no guard",
        traces.strays(within=False),
        "The last block has threads beyond the last column, and columns are counted from 0: i < x.shape[1].",
    ),
    Mistake(
        "rows and columns are mixed up",
        traces.strays(within=True),
        "This thread has a column, and yet leaves an array. x[row, column] has x.shape[0] rows and x.shape[1] "
        "columns; out has 8 rows, x may have fewer.",
    ),
    Mistake(
        "the greatest of each row",
        traces.of_rows,
        "A thread went along a row. It has a column: x[k, i] for all k below x.shape[0], where i is below x.shape[1].",
    ),
    Mistake("the least instead of the greatest", known.gives(cases.least), "Those are the eight least."),
    Mistake(
        "the least of them first",
        known.gives(lambda case: case.out.expected[::-1]),
        "The right values, and upside down: the greatest belongs into out[0].",
    ),
    Mistake(
        "a row is left out",
        known.either(
            known.gives(lambda case: cases.top(case.arguments[0][1:])),
            known.gives(lambda case: cases.top(case.arguments[0][:-1])),
            known.gives(lambda case: cases.top(case.arguments[0][: cases.KEPT])),
        ),
        "Every row counts, from x[0] to the last.",
    ),
    Mistake(
        "the eighth place stays empty",
        known.gives(lambda case: np.vstack([case.out.expected[:-1], np.full_like(case.out.expected[:1], -np.inf)])),
        "Seven places were filled. There are eight, best[0] to best[7]: range(8).",
    ),
    Mistake(
        "the right eight in another order",
        traces.in_other_order,
        "Each column has its eight, and out of order: the greatest belongs into out[0], the next into out[1].",
    ),
    Mistake(
        "columns without a thread",
        traces.columns_left_out,
        "Whole columns are never written. A thread's column is its place in the whole grid, cuda.grid(1), not "
        "its place in the block, nor the block's.",
    ),
    Mistake("whole numbers", traces.whole_numbers, "The fractions are lost: keep float32, as x does."),
    Mistake(
        "begins at zero",
        known.gives(lambda case: cases.top(case.arguments[0], 0)),
        "A column may have fewer than eight values above zero. Begin with -inf, below everything. "
        "(What nobody has set may be anything; here it was 0.)",
    ),
    Mistake(
        "equal values are kept once",
        known.gives(cases.each_once),
        "If 3 comes twice in a column, it stands twice among the greatest.",
    ),
    Mistake(
        "what gives way is lost",
        known.gives(cases.not_moved_down),
        "A greater value takes the place of another, which is then the next candidate for the place below.",
    ),
    Mistake(
        "both stay the same",
        known.gives(cases.passed_on),
        "Of two values the greater stays and the lesser goes on: v = min(held, v). Here the one that stood "
        "there goes on even where it stays, and so is kept twice.",
    ),
    Mistake(
        "the greatest, eight times",
        known.gives(lambda case: np.repeat(cases.top(case.arguments[0])[:1], cases.KEPT, axis=0)),
        "Every place took the greatest value. What a place has taken must not go on to the next: pass on the "
        "lesser of the two.",
    ),
    Mistake(
        "begins with something else than -inf",
        traces.fills_up_otherwise,
        "A column with fewer than eight rows has to end in -inf. Begin with -np.inf in all eight places.",
    ),
    Mistake(
        "the eight stand in shared memory",
        lambda e: any(b.label == NO_REGISTERS and b.over and not b.where for b in e.budgets),
        "Right, and every exchange asks shared memory, of which the block takes 4 KiB. In registers it costs "
        "neither: cuda.local.array, and only indices that the compiler knows.",
    ),
    Mistake(
        "an array indexed at run time",
        known.over(NO_REGISTERS),
        "Right, and the array is in local memory: an index that depends on data or on a loop of unknown length "
        "cannot name a register. Go through all eight places each time, with a loop of range(8), and exchange.",
    ),
    Mistake(
        "the registers were taken away, the values were not",
        known.over(SPILLS),
        "The compiler was told to use fewer registers than eight values and a loop need, and moves values to "
        "local memory and back.",
    ),
    Mistake(
        "loads the same values again",
        known.over(LOADED),
        "Right, and values are loaded more often than once, of x or of out. Keep all eight in registers while "
        "each value of x passes by once, in a thread for each column.",
    ),
    Mistake(
        "more is kept than eight values and a loop need",
        known.over(REGISTERS),
        "Right, and the compiler takes more registers than eight values and a loop need. A float64 or a 64-bit index "
        "takes two; a second array takes more, and so does a loop over columns around it all, or another order of the "
        "exchanges. From best[0] on, one v is all that is kept beside the eight.",
    ),
)
FLIGHT = (
    Mistake(
        "nothing is added yet",
        lambda e: all(o.error is None and (o.got == o.case.out.initial).all() for o in e.outcomes),
        "grad holds what it held before. (In C, 1 / 2 is 0: a half is 0.5f.)",
    ),
    Mistake(
        "no guard",
        known.out_of_bounds,
        "A batch may reach beyond the end: each of its elements needs a guard of its own, or a place that "
        "exists for sure.",
    ),
    Mistake(
        "two threads have the same element",
        lambda e: known.found(*known.RACES)(e) and traces.wrong_before_the_last(e),
        "A thread's elements are its place in the whole grid and every gridDim.x * blockDim.x further. Here "
        "two threads come to the same one, so parts are lost or come twice.",
    ),
    Mistake(
        "several threads touch the last element of grad",
        known.found(*known.RACES),
        "Clamped to n - 1, threads beyond the end come to an element that its owner changes meanwhile: to "
        "store there is a race, and to load it too. Clamp in a and b, which nobody writes; load and store grad "
        "only where the true index is below n.",
    ),
    Mistake(
        "grad is overwritten",
        known.gives(lambda case: case.out.expected - case.out.initial),
        "What grad held is lost: it is +=, so add to what was loaded.",
    ),
    Mistake(
        "no half",
        known.gives(lambda case: 2 * case.out.expected - case.out.initial),
        "The sum of a and b is added, and half of it was asked for.",
    ),
    Mistake(
        "grad is counted twice",
        known.gives(lambda case: case.out.expected + case.out.initial),
        "What grad held is added to itself: either += what is new, or = all of it together.",
    ),
    Mistake(
        "half of something else",
        known.either(
            known.gives(lambda case: case.out.expected - case.out.initial / 2),
            known.gives(lambda case: case.out.expected + case.arguments[1] / 2),
            known.gives(lambda case: case.out.expected + case.arguments[2] / 2),
        ),
        "Half of the sum of a and b is asked for, and all of what grad held: 0.5f * (a[i] + b[i]).",
    ),
    Mistake(
        "a or b twice",
        known.either(*(known.gives(lambda case, k=k: case.out.initial + case.arguments[k]) for k in (1, 2))),
        "One of the two micro-batches came twice, the other not at all.",
    ),
    Mistake(
        "some elements are added more than once",
        traces.added(lambda count: (count > 1).any()),
        "A trip of the loop does several elements, so the next trip begins that many grids of threads later.",
    ),
    Mistake(
        "some elements are left out",
        traces.added(lambda count: (count == 0).any()),
        "Any launch has to do all n: after a batch go on, and do what is left over too.",
    ),
    Mistake(
        "neighbours in a thread instead of neighbours in a warp",
        known.over(LOADED),
        "Sectors come more than once. A thread with several elements side by side leaves its neighbours as "
        "far apart: chapter 04. Let a thread's elements be a whole grid of threads apart, or load float4; and "
        "load no value twice.",
    ),
    Mistake(
        "a value is used before the next is asked for",
        known.over(WAITS),
        "A warp goes on until it needs a value that is not there. In the PTX, a store to grad stands ahead of "
        "the next load, which may not pass it, or a sum stands between two loads. Load a whole batch into "
        "arrays of its own first, then compute and store. (`__restrict__` only allows the compiler to move "
        "loads; arrays are registers only where loops are unrolled.)",
    ),
    Mistake(
        "the registers were taken away, the values were not",
        known.over(SPILLS),
        "With a cap of 32 registers so large a batch does not fit: its values go to local memory and back. "
        "Take a smaller batch.",
    ),
    Mistake(
        "too many values at once",
        known.over(REGISTERS),
        "Each value under way needs a register to arrive in, each 64-bit address two. Take a smaller batch or "
        "int indices, or say with __launch_bounds__ what you want to launch, and see whether it spills.",
    ),
)
