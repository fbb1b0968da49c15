"""Which of many roofs is the lowest for a kernel: that of one kind of unit, or the slope of memory."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake
from vgpu.hardware import gpus
from vgpu.tools.roofline import peak_flops

UNITS = ("fp32", "fp64", "fp16_tensor")
ELEMENTS = 2**20
COUNTED = (  # what, GPU, FLOP of each kind and bytes for an element
    ("a polynomial of degree 64 in FP32", "T4", {"fp32": 128}, 8),
    ("the same in FP64", "T4", {"fp32": 0, "fp64": 128}, 8),
    ("one operation in twenty is FP64", "T4", {"fp32": 608, "fp64": 32}, 8),
    ("one operation in twenty is FP64", "A100", {"fp32": 608, "fp64": 32}, 8),
    ("a transpose", "A100", {}, 8),
    ("a narrow product on tensor cores", "A100", {"fp16_tensor": 800}, 8),
    ("a wide product on tensor cores", "A100", {"fp16_tensor": 4000, "fp32": 60}, 8),
    ("a wide product, with more work on its results", "A100", {"fp16_tensor": 4000, "fp32": 300}, 8),
    (
        "three kinds of units, each busy nearly as long as the memory",
        "A100",
        {"fp16_tensor": 1200, "fp32": 72, "fp64": 36},
        8,
    ),
)


def _lowest(flops: dict[str, float], peaks: dict[str, float], nbytes: float, bandwidth: float) -> str:
    times = {"memory": nbytes / bandwidth, **{unit: count / peaks[unit] for unit, count in flops.items()}}
    return max(times, key=times.get)


def _case(what: str, name: str, counts: dict[str, int], nbytes: int) -> Case:
    row = gpus.find(name)
    flops = {unit: count * ELEMENTS for unit, count in counts.items()}
    peaks = {unit: peak_flops(row, unit) for unit in UNITS}
    given = (flops, peaks, nbytes * ELEMENTS, row.memory_bandwidth)
    return Case(f"{what}, {name}", given, expected=_lowest(*given))


MEMORY = '{"memory": nbytes / bandwidth}'
TIME = "flops[unit] / peaks[unit]"
LONGEST = "return max(times, key=times.get)"

EXERCISE = Exercise(
    key="ch10.lowest",
    title="the lowest of many roofs",
    language="python",
    name="lowest_roof",
    cases=lambda: [_case(*row) for row in COUNTED],
    hints=(
        "How long do the FLOP of one kind take, if only the units of that kind are looked at?",
        "Divide the FLOP of each kind by the peak of that kind. All of them and the memory work at the same time, so "
        "the one that takes longest holds the kernel up.",
        f"for unit in flops: times[unit] = {TIME}. Then return max(times, key=times.get), the name with the longest "
        "time.",
    ),
    solution="""
def lowest_roof(flops, peaks, nbytes, bandwidth):
    times = {"memory": nbytes / bandwidth}
    for unit in flops:
        times[unit] = flops[unit] / peaks[unit]
    return max(times, key=times.get)
""",
    why="Each kind of unit has its own work and its own peak, so each has its own time, and the longest one decides. "
    "Few operations are enough where their roof is low: on a T4 a single FP64 operation takes as long as 32 of FP32, "
    "so one in twenty already decides. On an A100 the same kernel waits for FP32.",
    stretch="return also how many times as fast the kernel would be if the roof that decides were gone.",
    mistakes=(
        Mistake(
            "always the memory",
            "Memory is one of several roofs. Work out how long the FLOP of each kind take, and compare. (The bytes "
            "take nbytes / bandwidth seconds.)",
            ((LONGEST, 'return "memory"'), (MEMORY, '{"memory": bandwidth / nbytes}')),
        ),
        Mistake(
            "the memory is forgotten",
            "The bytes take time as well, and for some of these kernels they take the longest.",
            ((LONGEST, 'return max(flops, key=lambda unit: times[unit], default="memory")'),),
        ),
        Mistake(
            "the kind with most FLOP",
            "The number of FLOP alone does not decide. Few FLOP take long where their peak is low: divide by it.",
            ((TIME, "flops[unit]"), (LONGEST, 'return max(flops, key=flops.get, default="memory")')),
        ),
        Mistake(
            "the kind with the lowest peak",
            "A low peak does no harm where there are few FLOP for it. Divide the FLOP of each kind by its peak.",
            (
                (LONGEST, "return min(flops, key=peaks.get, default='memory')"),
                (TIME, "nbytes / bandwidth + (flops[unit] > 0) / peaks[unit]"),
            ),
        ),
        Mistake(
            "the highest of the roofs",
            "The name with the shortest time is the highest roof. The lowest one holds the kernel up.",
            ((LONGEST, LONGEST.replace("max", "min")),),
        ),
        Mistake(
            "all FLOP under each roof",
            "Only the FLOP of a kind are done by its units. Divide those by its peak, and not the sum of all.",
            ((TIME, "sum(flops.values()) / peaks[unit]"),),
        ),
        Mistake(
            "the times of the units are added",
            "Units of different kinds work at the same time. Compare the memory with each of them, and not with their "
            "sum.",
            (
                (
                    LONGEST,
                    'units = sum(times.values()) - times["memory"]\n    if times["memory"] > units:\n'
                    '        return "memory"\n    times["memory"] = 0\n    ' + LONGEST,
                ),
            ),
        ),
        Mistake(
            "a time instead of a name",
            'That is how long the kernel takes. What is asked for is a name: "memory" or a kind of unit.',
            ((LONGEST, "return max(times.values())"),),
        ),
        Mistake(
            "one kind of unit only",
            "Look at all kinds in `flops`, and not only at one of them.",
            tuple((TIME, f'(unit == "{unit}") * {TIME}') for unit in UNITS),
        ),
    ),
)
