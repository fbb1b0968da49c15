"""What is done wrong in lab 07, by its traces: for each exercise the mistakes in the order in which they are tried."""

from __future__ import annotations

import numpy as np

from helpers.exercises import Mistake
from helpers.exercises import lab07_cases as cases
from helpers.exercises import lab07_traces as traces
from helpers.exercises import mistakes as known

REGISTERS, SPILLS = "registers a thread", "bytes of spills"
LOADED = "bytes loaded per byte needed"
NO_REGISTERS = "requests to local and shared memory"
WAITS = "waits per KiB"


ROOM = (
    Mistake(
        "a kernel that does not fit",
        lambda e: (
            not all(outcome.ok for outcome in e.outcomes)
            and all(outcome.ok or outcome.case.expected == (0, 0) for outcome in e.outcomes)
        ),
        "With 200 registers a thread no block of 512 fits, so there is nothing to keep: return (0, 0).",
    ),
    Mistake(
        "no tuple of two whole numbers",
        traces.no_pair,
        "Return a tuple: registers a thread, and KiB a block. Not one number, a list or text; print() returns None.",
    ),
    Mistake(
        "the same for all kernels",
        traces.says_the_same,
        "It returns the same whatever is asked. How many blocks fit now? Up to where do as many?",
    ),
    Mistake(
        "the two are exchanged",
        known.gives(lambda case: case.expected[::-1]),
        "Right, and the wrong way round: registers come first, then KiB.",
    ),
    Mistake(
        "bytes instead of KiB",
        known.gives(lambda case: (case.expected[0], 1024 * case.expected[1])),
        "Shared memory is asked for in KiB, and answered in KiB.",
    ),
    Mistake(
        "one GPU for all",
        traces.for_one_gpu(cases.room),
        "The answer is that of one GPU, whichever is asked for: hand `gpu` on to `occupancy`.",
    ),
    Mistake(
        "nothing more than now",
        known.gives(lambda case: case.arguments[:2] if any(case.expected) else (0, 0)),
        "Those are the needs as they are. Compare blocks_per_sm alone: two results of `occupancy` differ as "
        "soon as the needs do.",
    ),
    Mistake(
        "the last register is left out",
        known.gives(lambda case: (min(cases.MOST_REGISTERS - 1, case.expected[0]), case.expected[1])),
        "A thread may have 255 registers, and range(…, 255) ends at 254.",
    ),
    Mistake(
        "no value is as good as the present one",
        lambda e: any(isinstance(o.error, ValueError) and "max()" in str(o.error) for o in e.outcomes),
        "max() found no value, yet the present one itself keeps as many blocks. Try each need with the other "
        "as it is, beginning at the present value.",
    ),
    Mistake(
        "no value is worse than the present one",
        lambda e: any(
            isinstance(o.error, StopIteration) or (isinstance(o.error, ValueError) and "min()" in str(o.error))
            for o in e.outcomes
        ),
        "Not every kernel loses a block on the way up to 255 registers, or to 228 KiB. Look for the last value that is "
        "as good as the present one, which there always is.",
    ),
    Mistake(
        "one step too far",
        known.gives(lambda case: (case.expected[0] + any(case.expected), case.expected[1] + any(case.expected))),
        "Those are the first values with which a block less fits. Return the last ones with which as many do.",
    ),
    Mistake(
        "how much more, instead of how much",
        known.gives(lambda case: tuple(max(0, n - had) for n, had in zip(case.expected, case.arguments, strict=False))),
        "That is what may be added. Return the whole: registers a thread, and KiB a block.",
    ),
    Mistake(
        "what full occupancy would need",
        known.gives(cases.full),
        "The question is what may be added without losing a block that fits now, full or not.",
    ),
    Mistake(
        "what one block could have",
        known.gives(cases.for_one_block),
        "With so much at least one block fits. The question is up to where as many fit as now.",
    ),
    Mistake(
        "values are left out",
        traces.any_of(*(known.gives(cases.room_by_steps(step)) for step in (2, 4, 8, 16, 32))),
        "Registers were tried in steps from the present value on, and the last one as good lies between two of them. "
        "Try every value.",
    ),
    Mistake(
        "KiB are taken for bytes",
        traces.any_of(
            *(known.gives(lambda case, unit=unit: cases.room(*case.arguments, unit=unit)) for unit in (1, 1000))
        ),
        "`occupancy` takes bytes: 1024 * kib.",
    ),
    Mistake(
        "divided by hand",
        lambda e: any(known.gives(cases.by_hand(*which))(e) for which in ((1, 0), (0, 1), (1, 1))),
        "Registers are given to warps, in units of 256 from a quarter of the SM; of shared memory the driver "
        "keeps 1 KiB of each block from compute capability 8.0 on, and one block may not have all of it. "
        "`occupancy` knows that: ask it, value by value.",
    ),
)
LAUNCH = (
    Mistake(
        "no tuple of two whole numbers",
        traces.no_pair,
        "Return a tuple, such as (256, 40): threads a block, and blocks. `//` gives whole numbers, `/` does "
        "not, and print() returns None.",
    ),
    Mistake(
        "the two are exchanged",
        known.gives(lambda case: case.expected[::-1]),
        "Right, and the wrong way round: threads a block come first, then blocks.",
    ),
    Mistake(
        "one GPU for all",
        traces.for_one_gpu(cases.launch),
        "The answer is that of one GPU, whichever is asked for: hand `gpu` on to `occupancy`, and take its sms.",
    ),
    Mistake(
        "a float has four bytes",
        traces.any_of(*(known.gives(cases.launched(shared=size)) for size in (1, 2, 8))),
        "The need is in floats of four bytes, and `occupancy` takes bytes: 4 * floats * threads.",
    ),
    Mistake(
        "too little shared memory is reckoned with",
        known.gives(cases.launched(shared=0)),
        "A block needs 4 * floats bytes for each of its threads, so 4 * floats * threads in all.",
    ),
    Mistake(
        "most blocks instead of most warps",
        known.gives(cases.launched(of="blocks_per_sm")),
        "Many small blocks are not many warps. Compare warps_per_sm.",
    ),
    Mistake(
        "one block size for all kernels",
        lambda e: len({str(o.got).split(",")[0] for o in e.outcomes if o.error is None}) == 1,
        "The block size is the same whatever is asked: try every one, and let `occupancy` say what is held.",
    ),
    Mistake(
        "only powers of two",
        known.gives(cases.launched(sizes=[32 << k for k in range(6)])),
        "Any multiple of 32 is a fine block size: 96 and 160 too.",
    ),
    Mistake(
        "the largest of the best",
        known.gives(cases.launched(last=True)),
        "Of sizes that hold as many warps take the smallest: its blocks end, and make room, one by one.",
    ),
    Mistake(
        "one SM's blocks",
        known.gives(cases.wave(of_all_sms=False)),
        "blocks_per_sm is for one SM, and the GPU has gpu.sms of them.",
    ),
    Mistake(
        "the last size that was tried",
        known.gives(cases.wave(of=max(cases.SIZES))),
        "The block size is right, and the number of blocks is that of blocks of 1024, which were tried last. "
        "Keep what `occupancy` said of the best size.",
    ),
    Mistake(
        "warps taken for blocks",
        known.gives(cases.wave(of_warps=True)),
        "warps_per_sm counts warps. A wave has blocks_per_sm blocks on each SM.",
    ),
    Mistake(
        "elements taken for blocks",
        known.gives(cases.wave(each=1)),
        "n elements need n threads, not n blocks: a block has many of them.",
    ),
    Mistake(
        "more than one wave",
        traces.any_of(known.gives(cases.wave(held=False)), known.gives(cases.wave(least=max))),
        "Two numbers are limits: the blocks that the GPU holds at once, and those that give each element a "
        "thread. Take the smaller one.",
    ),
    Mistake(
        "a block without an element",
        known.gives(cases.wave(one_more=True)),
        "n // threads + 1 is one too many where n is a multiple of threads. -(-n // threads) rounds up.",
    ),
    Mistake(
        "more blocks than there is work for",
        known.gives(cases.wave(capped=False)),
        "With few elements fewer blocks do: as many as cover n, a thread each.",
    ),
    Mistake(
        "the last elements have no block",
        traces.any_of(known.gives(cases.wave(rounded_up=False)), known.gives(cases.wave(to_nearest=True))),
        "n / threads rounded down, or to the nearest, leaves elements without a thread: round up.",
    ),
    Mistake(
        "another number of blocks",
        traces.other_blocks_alone,
        "The block size is right, the number of blocks is not. It is the lesser of two: blocks_per_sm of that very "
        "launch, with its shared memory, times gpu.sms; and n by threads, rounded up.",
    ),
    Mistake(
        "no multiple of 32",
        traces.other_size(of_the_field=False),
        "Blocks are made of whole warps: 32, 64, 96 and so on, up to 1024 threads.",
    ),
    Mistake(
        "a better block size is left out",
        traces.other_size(of_the_field=True),
        "Some other size holds more warps on an SM, or as many in smaller blocks. Try all from 32 to 1024, in "
        "steps of 32.",
    ),
)
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
        traces.any_of(
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
        traces.any_of(
            known.gives(lambda case: case.out.expected - case.out.initial / 2),
            known.gives(lambda case: case.out.expected + case.arguments[1] / 2),
            known.gives(lambda case: case.out.expected + case.arguments[2] / 2),
        ),
        "Half of the sum of a and b is asked for, and all of what grad held: 0.5f * (a[i] + b[i]).",
    ),
    Mistake(
        "a or b twice",
        traces.any_of(*(known.gives(lambda case, k=k: case.out.initial + case.arguments[k]) for k in (1, 2))),
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
