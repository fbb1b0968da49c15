"""The smallest block that fills several GPUs, as the four limits of occupancy allow."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural
from vgpu.hardware import gpus
from vgpu.hardware.occupancy import occupancy

NEEDS = (  # registers and floats of a thread, GPUs, the fraction that is wanted
    (24, 0, ("T4", "RTX 3090", "H100"), 0.75),
    (24, 16, ("T4", "RTX 3090", "H100"), 1.0),
    (24, 16, ("A100", "RTX 4090", "B200"), 1.0),
    (64, 12, ("T4", "RTX 3090", "H100"), 0.5),
    (24, 80, ("T4", "RTX 3090", "H100"), 0.75),
    (72, 8, ("T4", "RTX 3090", "H100"), 0.75),
)
ALL = "all(each.fraction >= wanted for each in held)"


def _smallest(registers: int, floats: int, names: tuple[str, ...], wanted: float) -> int:
    for threads in range(32, 1025, 32):
        held = (occupancy(registers, 4 * floats * threads, threads, gpus.find(name)).fraction for name in names)
        if min(held) >= wanted:
            return threads
    return 0


def _case(registers: int, floats: int, names: tuple[str, ...], wanted: float) -> Case:
    name = f"{registers} registers, {plural(floats, 'float')} a thread, {wanted:.0%} on {', '.join(names)}"
    given = (registers, floats, names, wanted)
    return Case(name, given, expected=_smallest(*given))


EXERCISE = Exercise(
    key="ch09.block",
    title="the smallest block that fills several GPUs, in Python",
    language="python",
    name="smallest_block",
    cases=lambda: [_case(*need) for need in NEEDS],
    hints=(
        "for threads in range(32, 1025, 32): ask `occupancy` for each GPU of the list.",
        "occupancy(registers, shared bytes of a block, threads, gpus.find(name)).fraction is between 0 and 1.",
        "The block's shared bytes are 4 * floats * threads. Return the first `threads` for which all fractions are at "
        "least `wanted`, and 0 after the loop.",
    ),
    solution="""
from helpers import gpus, occupancy

def smallest_block(registers, floats, names, wanted):
    for threads in range(32, 1025, 32):
        held = [occupancy(registers, 4 * floats * threads, threads, gpus.find(name)) for name in names]
        if all(each.fraction >= wanted for each in held):
            return threads
    return 0
""",
    why="Occupancy is arithmetic on four limits, so all block sizes can be tried before anything runs. A power of two "
    "is no requirement: 96 threads are three whole warps, and here they do what 64 cannot.",
    stretch="return the block size whose worst occupancy is best, and see how often several sizes tie.",
    equivalent=(
        (("1025", "1026"), "1,024 is the last multiple of 32 below both"),
        (("1025", "1024"), "for none of these needs a block of 1,024 is the first that does"),
    ),
    mistakes=(
        Mistake(
            "no block is ever enough",
            "It returns 0 whatever is asked. `return 0` stands behind the loop, not in it; the fraction is between 0 "
            "and 1, as `wanted` is; `occupancy` wants the registers of a thread, and the bytes of a block.",
            (("= wanted", "= 100 * wanted"),),
        ),
        Mistake(
            "a part of a warp",
            "A block of 65 threads has three warps, as one of 96 has, and leaves lanes of the third without a thread. "
            "Try multiples of 32 only.",
            (("range(32, 1025, 32)", "range(1, 1025)"),),
        ),
        Mistake(
            "one GPU is not all of them",
            "The block has to do on every GPU of the list: all(…) over the names.",
            (("all(", "any("), (ALL, "held[0].fraction >= wanted"), (ALL, "held[-1].fraction >= wanted")),
        ),
        Mistake(
            "each GPU by itself",
            "That is the largest of several blocks, each the smallest for one GPU. What is enough for the one may be "
            "too large for another: ask all GPUs about the same block.",
            (
                """    def smallest(gpu):
        sizes = range(32, 1025, 32)
        return next((t for t in sizes if occupancy(registers, 4 * floats * t, t, gpu).fraction >= wanted), 0)

    return max(smallest(gpus.find(name)) for name in names)""",
            ),
        ),
        Mistake(
            "an average hides the worst GPU",
            "An average lets a GPU with plenty make up for one with too little. Each has to reach what is wanted.",
            ((ALL, "sum(each.fraction for each in held) / len(held) >= wanted"),),
        ),
        Mistake(
            "shared memory is a matter of the block",
            "`occupancy` asks for the bytes of a whole block: so many floats for each of its threads.",
            (("4 * floats * threads", "4 * floats"), ("4 * floats * threads", "0")),
        ),
        Mistake(
            "a float has four bytes",
            "The need is in floats, `occupancy` takes bytes.",
            (("4 * floats", "floats"),),
        ),
        Mistake(
            "the largest block instead of the smallest",
            "Go upwards from 32 and stop at the first that does.",
            (("range(32, 1025, 32)", "range(1024, 31, -32)"),),
        ),
        Mistake(
            "some block sizes are passed over",
            "Any multiple of 32 is a fine block size: try 32, 64, 96, 128, and so on.",
            (("range(32, 1025, 32)", "(32, 64, 128, 256, 512, 1024)"),),
        ),
        Mistake(
            "exactly enough is enough",
            "At least as much as wanted is enough: >=, not >.",
            ((">=", ">"),),
        ),
    ),
)
