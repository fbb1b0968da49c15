"""What a measured kernel is bound by: memory, arithmetic, or neither, which is latency."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

PEAK, BANDWIDTH = 20e12, 2e12
MEASURED = (  # what, FLOP, bytes, seconds
    ("a large vector", 1e8, 2e9, 1.2e-3),
    ("a large product", 1e11, 1e9, 6e-3),
    ("a tiny vector", 1e4, 1e5, 5e-6),
    ("one block alone", 1e9, 4e9, 40e-3),
    ("many FLOPs, and one SM", 1e12, 1e9, 0.5),
    ("neither is busy for half of the time, both together are", 2e10, 1.8e9, 3e-3),
    ("memory busy for exactly half of the time", 1e8, 2e9, 2e-3),
    ("arithmetic busy for exactly half of the time", 4e10, 1e9, 4e-3),
    ("left of the ridge, many FLOPs all the same", 4e10, 5e9, 3e-3),
    ("right of the ridge, many bytes all the same", 6e10, 5e9, 4e-3),
)


def _state(flops: float, nbytes: float, seconds: float) -> str:
    moving, calculating = nbytes / BANDWIDTH, flops / PEAK
    if max(moving, calculating) < seconds / 2:
        return "latency"
    return "memory" if moving > calculating else "compute"


def _case(name: str, flops: float, nbytes: float, seconds: float) -> Case:
    return Case(name, (flops, nbytes, seconds, PEAK, BANDWIDTH), expected=_state(flops, nbytes, seconds))


LAST = 'return "memory" if moving > calculating else "compute"'
NEITHER = "if max(moving, calculating) < seconds / 2:"

EXERCISE = Exercise(
    key="ch10.state",
    title="what a measured kernel is bound by",
    language="python",
    name="state",
    cases=lambda: [_case(*row) for row in MEASURED],
    hints=(
        "How long would the bytes take alone, at full bandwidth? And the operations alone, at the peak?",
        "Compare the longer of these two times with half of the measured time.",
        "moving = nbytes / bandwidth and calculating = flops / peak. If the larger one is below seconds / 2, it is "
        "'latency'; else the larger one gives the name.",
    ),
    solution="""
def state(flops, nbytes, seconds, peak, bandwidth):
    moving = nbytes / bandwidth
    calculating = flops / peak
    if max(moving, calculating) < seconds / 2:
        return "latency"
    return "memory" if moving > calculating else "compute"
""",
    why="The intensity says on which side of the ridge a kernel stands, and that is all it says. Whether the kernel "
    "comes near its roof at all, only a time can tell. One half is a convention of this exercise: Nsight Compute warns "
    "of latency below 60 %.",
    stretch="return the share of the roof as well, so that you can sort the kernels of a training step by it.",
    equivalent=(((LAST, LAST.replace(" > ", " >= ")), "on the ridge itself either word is right"),),
    mistakes=(
        Mistake(
            "the time is not looked at",
            "Intensity and ridge alone never say 'latency'. Compare with the measured time first.",
            ((NEITHER, "if False:"),),
        ),
        Mistake(
            "both must be idle",
            "A kernel is bound by memory although its arithmetic is idle. 'latency' is when the longer of both times "
            "is less than half of what was measured.",
            ((NEITHER, "if min(moving, calculating) < seconds / 2:"),),
        ),
        Mistake(
            "busy for half of the time is busy",
            "Exactly half is still busy: compare with <, not with <=.",
            ((NEITHER, "if max(moving, calculating) <= seconds / 2:"),),
        ),
        Mistake(
            "memory and compute are swapped",
            "If the bytes take longer than the operations, memory is the bound.",
            (("moving > calculating", "moving < calculating"),),
        ),
        Mistake(
            "the two times are added",
            "A GPU moves bytes and calculates at the same time, so the longer of the two counts and not their sum.",
            ((NEITHER, "if moving + calculating < seconds / 2:"),),
        ),
        Mistake(
            "the measured time is not halved",
            "No kernel reaches its roof entirely. Here it counts as near the roof from one half on.",
            ((NEITHER, "if max(moving, calculating) < seconds:"),),
        ),
        Mistake(
            "peak and bandwidth are mixed up",
            "Bytes are divided by the bandwidth, operations by the peak.",
            ((("nbytes / bandwidth", "nbytes / peak"), ("flops / peak", "flops / bandwidth")),),
        ),
        Mistake(
            "one word for all",
            "Three words are possible, and these kernels have all three.",
            tuple((NEITHER, f'return "{word}"\n    if False:') for word in ("memory", "compute")),
        ),
    ),
)
