"""A block size by occupancy, and as many blocks as make one wave, or fewer."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, cover, plural
from vgpu.hardware import gpus
from vgpu.hardware.occupancy import occupancy

SIZES, NEEDED = "range(32, 1025, 32)", "(n + best - 1) // best"
OTHERS = ("A100", "H100", "T4")
HELD = "held.blocks_per_sm * gpu.sms"


def _launch(registers, floats, n, gpu) -> tuple[int, int]:
    held = {threads: occupancy(registers, 4 * floats * threads, threads, gpu) for threads in range(32, 1025, 32)}
    threads = max(held, key=lambda size: held[size].warps_per_sm)  # the first, and so the smallest, of the best
    return threads, min(held[threads].blocks_per_sm * gpu.sms, cover(n, threads))


def _case(registers: int, floats: int, n: int, name: str) -> Case:
    gpu = gpus.find(name)
    what = f"{registers} registers, {plural(floats, 'float')} a thread, {plural(n, 'element')} on {name}"
    return Case(what, (registers, floats, n, gpu), expected=_launch(registers, floats, n, gpu))


def _names(dice: np.random.Generator, count: int) -> list[str]:
    return [str(name) for name in dice.choice(list(gpus.GPUS), count)]


def _drawn(dice: np.random.Generator) -> list[Case]:
    return [
        _case(int(dice.integers(16, 150)), int(dice.integers(0, 33)), int(10 ** dice.uniform(1, 7)), name)
        for name in _names(dice, 8)
    ] + [_full_blocks(dice)]


def _full_blocks(dice: np.random.Generator) -> Case:
    """So few elements that they are less than a wave, and as many as whole blocks have threads."""
    needs, name = (int(dice.integers(16, 60)), int(dice.integers(0, 9))), _names(dice, 1)[0]
    threads, blocks = _launch(*needs, 10**7, gpus.find(name))
    return _case(*needs, threads * int(dice.integers(2, max(3, min(blocks, 40)))), name)


EXERCISE = Exercise(
    key="lab07.launch",
    title="a block size, and one wave of blocks, in Python",
    language="python",
    name="choose",
    cases=lambda: [
        _case(*needs)
        for needs in (
            (24, 0, 10**6, "A100"), (40, 16, 10**6, "RTX 4090"),
            (72, 8, 10**7, "H100"),
            (50, 20, 5000, "T4"),
            (36, 3, 97, "B200"),
            (32, 60, 10**5, "L4"),
            (90, 12, 10**6, "RTX 3090"),
            (32, 0, 1, "A100"), (24, 0, 6400, "A100"),
        )
    ],
    drawn=_drawn,
    hints=(
        "First the block size, by warps_per_sm; then the number of blocks.",
        "for threads in range(32, 1025, 32), and a new best only where it is greater than the old one.",
        "held = occupancy(registers, 4 * floats * threads, threads, gpu); in the end blocks = "
        "min(held.blocks_per_sm * gpu.sms, (n + threads - 1) // threads).",
    ),
    why="All of a wave's blocks run from the start, so one full wave of a kernel with a grid-stride loop has no "
    "tail: nobody waits for a second wave that fills a part of the GPU only. It also prepares what a block prepares "
    "once, a table in shared memory say, as seldom as possible. More warps than that would queue, and fewer leave "
    "places empty. Where the arrays are short the launch is what they need, and no choice fills the GPU.",
    stretch="several waves of smaller blocks even out blocks that take unequally long. What would you change?",
    equivalent=(
        (("best, held = 0", "best, held = 1"), "the first size takes its place"),
        (("1025", "1026"), "1025 is no multiple of 32"),
        (("1025", "1024"), "blocks of 1024 hold no more warps than blocks of 512"),
    ),
    mistakes=(
        Mistake("no tuple of two whole numbers",
            "Return a tuple, such as (256, 40): threads a block, and blocks. `//` gives whole numbers, `/` does "
            "not, and print() returns None.",
            ((NEEDED, "n / best"),)),
        Mistake("one GPU for all",
            "The answer is that of one GPU, whichever is asked for: hand `gpu` on to `occupancy`, and take its sms.",
            (*(("    best, held = 0", f"    gpu = gpus.find({name!r})\n    best, held = 0") for name in OTHERS),)),
        Mistake("a float has four bytes",
            "The need is in floats of four bytes, and `occupancy` takes bytes: 4 * floats * threads.",
            (("4 * floats", "floats"), ("4 * floats", "2 * floats"), ("4 * floats", "8 * floats"))),
        Mistake("too little shared memory is reckoned with",
            "A block needs 4 * floats bytes for each of its threads, so 4 * floats * threads in all.",
            (("4 * floats * threads", "4 * floats"), ("4 * floats * threads", "0"))),
        Mistake("most blocks instead of most warps",
            "Many small blocks are not many warps. Compare warps_per_sm.",
            (("warps_per_sm", "blocks_per_sm"),)),
        Mistake("one block size for all kernels",
            "The block size is the same whatever is asked: try every one, and let `occupancy` say what is held.",
            (*(f"    return {size}, (n + {size - 1}) // {size}" for size in (32, 128, 256, 512, 1024)),)),
        Mistake("only powers of two",
            "Any multiple of 32 is a fine block size: 96 and 160 too.",
            ((SIZES, "(32, 64, 128, 256, 512, 1024)"),)),
        Mistake("the largest of the best",
            "Of sizes that hold as many warps take the smallest: its blocks end, and make room, one by one.",
            ((" > held", " >= held"),)),
        Mistake("one SM's blocks",
            "blocks_per_sm is for one SM, and the GPU has gpu.sms of them.",
            ((HELD, "held.blocks_per_sm"),)),
        Mistake("the last size that was tried",
            "The block size is right, and the number of blocks is that of blocks of 1024, which were tried last. "
            "Keep what `occupancy` said of the best size.",
            (("held.blocks_per_sm", "tried.blocks_per_sm"),)),
        Mistake("warps taken for blocks",
            "warps_per_sm counts warps. A wave has blocks_per_sm blocks on each SM.",
            (("held.blocks_per_sm", "held.warps_per_sm"),)),
        Mistake("elements taken for blocks",
            "n elements need n threads, not n blocks: a block has many of them.",
            ((NEEDED, "n"),)),
        Mistake("more than one wave",
            "Two numbers are limits: the blocks that the GPU holds at once, and those that give each element a "
            "thread. Take the smaller one.",
            ((f"min({HELD}, {NEEDED})", NEEDED), ("min(", "max("))),
        Mistake("a block without an element",
            "n // threads + 1 is one too many where n is a multiple of threads. (n + threads - 1) // threads "
            "rounds up.",
            ((NEEDED, "n // best + 1"),)),
        Mistake("more blocks than there is work for",
            "With few elements fewer blocks do: as many as cover n, a thread each.",
            ((f"min({HELD}, {NEEDED})", HELD),)),
        Mistake("the last elements have no block",
            "n / threads rounded down, or to the nearest, leaves elements without a thread: round up.",
            ((NEEDED, "n // best"), (NEEDED, "round(n / best)"))),
        Mistake("another number of blocks",
            "The block size is right, the number of blocks is not. It is the lesser of two: blocks_per_sm of that "
            "very launch, with its shared memory, times gpu.sms; and n by threads, rounded up.",
            ((f"min({HELD}, {NEEDED})", f"2 * {HELD}"), (HELD, "gpu.warps_per_sm * 32 // best * gpu.sms"))),
        Mistake("no multiple of 32",
            "Blocks are made of whole warps: 32, 64, 96 and so on, up to 1024 threads.",
            ((SIZES, "range(1, 1025)"),)),
        Mistake("a better block size is left out",
            "Some other size holds more warps on an SM, or as many in smaller blocks. Try all from 32 to 1024, in "
            "steps of 32.",
            ((SIZES, "range(64, 1025, 64)"), (SIZES, "range(64, 1025, 32)"))),
    ),
)  # fmt: skip
