"""How many times as fast a kernel is on another GPU, if it reaches its roof on both."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake
from vgpu.hardware import gpus

MOVES = (  # what, FLOP, bytes, the old GPU, the new one
    ("saxpy", 2 * 2**24, 12 * 2**24, "T4", "A100"),
    ("polynomial of degree 64", 128 * 2**24, 8 * 2**24, "T4", "A100"),
    ("polynomial of degree 64", 128 * 2**24, 8 * 2**24, "A100", "H100"),
    ("product of 1024 × 1024", 2 * 1024**3, 12 * 1024**2, "V100", "RTX 4090"),
    ("saxpy", 2 * 2**24, 12 * 2**24, "A100", "RTX 4090"),
    ("saxpy", 2 * 2**24, 12 * 2**24, "T4", "T4"),
)
IMAGINARY = (  # what, FLOP, bytes, (peak, bandwidth) of the old one and of the new one, how many times as fast
    ("right on the ridge, units 4 times as fast", 1e12, 1e11, (1e13, 1e12), (4e13, 1e12), 1.0),
    ("right on the ridge, memory 4 times as fast", 1e12, 1e11, (1e13, 1e12), (1e13, 4e12), 1.0),
    ("memory-bound first, compute-bound then", 1e12, 2e11, (1e13, 1e12), (2e13, 8e12), 4.0),
)


def _faster(flops: float, nbytes: float, old: tuple[float, float], new: tuple[float, float]) -> float:
    before, after = (max(flops / peak, nbytes / bandwidth) for peak, bandwidth in (old, new))
    return before / after


def _case(what: str, flops: int, nbytes: int, *names: str) -> Case:
    rows = [gpus.find(name) for name in names]
    given = (flops, nbytes, *((row.fp32_flops, row.memory_bandwidth) for row in rows))
    return Case(f"{what}, {names[0]} to {names[1]}", given, expected=_faster(*given))


LONGER = "max(flops / peak, nbytes / bandwidth)"
RATIO = "seconds(*old) / seconds(*new)"
PEAKS, BANDWIDTHS = "new[0] / old[0]", "new[1] / old[1]"

EXERCISE = Exercise(
    key="ch10.faster",
    title="how much faster another GPU is",
    language="python",
    name="faster",
    cases=lambda: [
        *(_case(*move) for move in MOVES),
        *(Case(name, tuple(given), expected=gain) for name, *given, gain in IMAGINARY),
    ],
    hints=(
        "Take one GPU first. How long do the FLOP take on it, and how long do the bytes? Which of the two counts?",
        "A kernel may wait for memory on one GPU and for its units on the other. So work out the time on each GPU by "
        "itself, and divide the two times at the end.",
        f"On a GPU the time is {LONGER}. Return the time on the old one divided by the time on the new one.",
    ),
    solution="""
def faster(flops, nbytes, old, new):
    def seconds(peak, bandwidth):
        return max(flops / peak, nbytes / bandwidth)

    return seconds(*old) / seconds(*new)
""",
    why="A GPU does both at the same time, so the longer of the two times counts. Which one that is can change from "
    "one GPU to the other, so neither the ratio of the peaks nor that of the bandwidths is the answer for every "
    "kernel. An RTX 4090 has more than four times the FP32 peak of an A100 and half of its bandwidth, so saxpy is "
    "slower there.",
    stretch="how many FLOP per byte must a kernel do to be faster on an RTX 4090 than on an A100?",
    mistakes=(
        Mistake(
            "only the peaks are compared",
            "The peak is one of two limits. A kernel that waits for memory gains nothing from faster units.",
            ((RATIO, PEAKS),),
        ),
        Mistake(
            "only the bandwidths are compared",
            "The bandwidth is one of two limits. A kernel that waits for its units gains nothing from faster memory. "
            "(A GPU is given as (peak, bandwidth): FLOP are divided by the first, and bytes by the second.)",
            ((RATIO, BANDWIDTHS), (LONGER, "max(flops / bandwidth, nbytes / peak)")),
        ),
        Mistake(
            "the shorter of the two times",
            "On each GPU the kernel is done when its FLOP and its bytes are both done, so the longer time counts.",
            ((LONGER, LONGER.replace("max", "min")),),
        ),
        Mistake(
            "the two times are added",
            "A GPU moves bytes and calculates at the same time, so the longer of the two counts and not their sum.",
            ((LONGER, "flops / peak + nbytes / bandwidth"),),
        ),
        Mistake(
            "what holds the kernel up on the old GPU is taken for both",
            "Ask again on the new GPU whether the FLOP or the bytes take longer: it has a ridge of its own.",
            (
                (RATIO, f"{PEAKS} if flops / nbytes > old[0] / old[1] else {BANDWIDTHS}"),
                (RATIO, f"{PEAKS} if flops / nbytes >= old[0] / old[1] else {BANDWIDTHS}"),
            ),
        ),
        Mistake(
            "what holds the kernel up on the new GPU is taken for both",
            "Ask on the old GPU as well whether the FLOP or the bytes take longer: it has a ridge of its own.",
            (
                (RATIO, f"{PEAKS} if flops / nbytes > new[0] / new[1] else {BANDWIDTHS}"),
                (RATIO, f"{PEAKS} if flops / nbytes >= new[0] / new[1] else {BANDWIDTHS}"),
            ),
        ),
        Mistake(
            "the better of two gains",
            "Peak and bandwidth do not gain independently. Work out the time on each GPU, and divide then.",
            ((RATIO, f"max({PEAKS}, {BANDWIDTHS})"),),
        ),
        Mistake(
            "the worse of two gains",
            "That is the least that it can gain. Work out the time on each GPU, and divide then.",
            ((RATIO, f"min({PEAKS}, {BANDWIDTHS})"),),
        ),
        Mistake(
            "upside down",
            "Twice as fast is half the time: divide the old time by the new one.",
            ((RATIO, "seconds(*new) / seconds(*old)"),),
        ),
    ),
)
