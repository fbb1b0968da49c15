"""What two clocks on the host read after some launches: one that stops at once, and one that synchronises first."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = (  # name, microseconds of a launch, microseconds of a kernel, launches
    ("one long kernel", 5, 30, 1),
    ("one short kernel", 5, 2, 1),
    ("six long kernels", 5, 30, 6),
    ("six short kernels", 5, 2, 6),
    ("kernels as long as their launches", 4, 4, 3),
    ("two kernels that do nothing", 6, 0, 2),
    ("a thousand kernels, a little longer than their launches", 5, 7, 1000),
)


def _read(launch: int, kernel: int, launches: int) -> tuple[int, int]:
    free = 0
    for number in range(launches):
        free = max(free, (number + 1) * launch) + kernel
    return launches * launch, free


HONEST = "launch + kernel + (launches - 1) * max(launch, kernel)"

EXERCISE = Exercise(
    key="ch00.clocks",
    title="what two clocks read",
    language="python",
    name="clocks",
    cases=lambda: [Case(name, tuple(given), expected=_read(*given)) for name, *given in GIVEN],
    hints=(
        "Draw two rows, as in the explorer: the host's launches, and below them the kernels. A kernel begins when its "
        "launch has returned and the kernel before it is done.",
        "If kernels are longer than launches, the GPU is busy from the end of the first launch on. If they are "
        "shorter, the GPU waits for each launch, and only the last kernel comes on top.",
        "In both cases one launch and one kernel count in full. Each of the other launches adds the longer of the two: "
        "max(launch, kernel).",
    ),
    solution="""
def clocks(launch, kernel, launches):
    careless = launches * launch
    honest = launch + kernel + (launches - 1) * max(launch, kernel)
    return careless, honest
""",
    why="The host needs `launch` for each launch and nothing else, so the careless clock never sees the kernels. For "
    "the honest clock, host and GPU are two workers in a row: the first piece passes both of them, and from then on "
    "the slower one sets the pace. So a program of tiny kernels is as fast as its launches, whatever the GPU can do.",
    stretch="let the host synchronise after every launch, as a loop with `loss.item()` does. What does the honest "
    "clock read then, and from which kernel on does it hardly matter?",
    mistakes=(
        Mistake(
            "the careless clock sees the kernels",
            "The first clock stops as soon as the last launch call has returned. What the kernels do meanwhile, it "
            "does not see.",
            (
                "    careless = launches * (launch + kernel)\n"
                "    honest = launches * (launch + kernel)\n"
                "    return careless, honest\n",
                (("launches * launch", "launches * (launch + kernel)"),),
                (("launches * launch", "launches * launch + kernel"),),
                (("return careless, honest", "return honest, honest"),),
            ),
        ),
        Mistake(
            "the host waits after each launch",
            "That is a host that waits for each kernel before it launches the next one. This one goes on at once: "
            "while a kernel runs, the next launch is being made.",
            (((HONEST, "launches * (launch + kernel)"),),),
        ),
        Mistake(
            "the first launch is missing",
            "The GPU cannot begin before the first launch has been made. The kernels alone are not all.",
            (((HONEST, "launches * kernel"),), ((HONEST, "launches * max(launch, kernel)"),)),
        ),
        Mistake(
            "right while kernels are longer than launches",
            "If a kernel is shorter than a launch, the GPU is done early and waits for the next launch. Then the host "
            "sets the pace.",
            (((HONEST, "launch + launches * kernel"),),),
        ),
        Mistake(
            "right while launches are longer than kernels",
            "If a kernel is longer than a launch, the next kernel has to wait until the GPU is free. Then the GPU sets "
            "the pace.",
            (((HONEST, "launches * launch + kernel"),),),
        ),
        Mistake(
            "one piece too many",
            "The first launch and the last kernel count in full, and between them there are launches - 1 steps.",
            ((("(launches - 1)", "launches"),),),
        ),
        Mistake(
            "the shorter of the two sets the pace",
            "Host and GPU work in a row, and the next step begins when both are ready. So the longer one counts.",
            ((("max", "min"),),),
        ),
        Mistake(
            "the two clocks are in the wrong order",
            "Return the clock that does not synchronise first, and the one that does after it.",
            ((("return careless, honest", "return honest, careless"),),),
        ),
    ),
)
