"""What is done wrong where lab 07 asks for numbers: mistakes in the order in which they are tried."""

from __future__ import annotations

from helpers.checking import mistakes as known
from helpers.checking.exercise import Mistake
from helpers.exercises import lab07_cases as cases
from helpers.exercises import lab07_traces as traces

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
        known.either(*(known.gives(cases.room_by_steps(step)) for step in (2, 4, 8, 16, 32))),
        "Registers were tried in steps from the present value on, and the last one as good lies between two of them. "
        "Try every value.",
    ),
    Mistake(
        "KiB are taken for bytes",
        known.either(
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
        known.either(*(known.gives(cases.launched(shared=size)) for size in (1, 2, 8))),
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
        known.either(known.gives(cases.wave(held=False)), known.gives(cases.wave(least=max))),
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
        known.either(known.gives(cases.wave(rounded_up=False)), known.gives(cases.wave(to_nearest=True))),
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
