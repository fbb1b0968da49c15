"""When the last kernel of a step has ended: a host that asks, a GPU that works, and calls of .item() in between."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

STEPS = (
    ("one kernel of 20 µs", [20], 5, set()),
    ("four long kernels", [20, 20, 20, 20], 5, set()),
    ("four short kernels", [2, 2, 2, 2], 5, set()),
    ("four long kernels, .item() after each", [20, 20, 20, 20], 5, {0, 1, 2, 3}),
    ("four long kernels, .item() after the second", [20, 20, 20, 20], 5, {1}),
    ("short and long ones", [2, 30, 1, 1, 1, 9], 4, set()),
    ("long, then many short ones", [40, 1, 1, 1, 1, 1, 1, 1], 8, set()),
    ("short and long ones, .item() after the second", [2, 30, 1, 1, 1, 9], 4, {1}),
    ("launches that cost nothing", [3, 4, 5], 0, {0}),
    ("no kernel at all", [], 5, set()),
)
ASK, WORK = "host = host + launch", "gpu = max(gpu, host) + kernel"


def _case(name: str, kernels: list, launch: float, waits: set) -> Case:
    host = gpu = 0
    for number, kernel in enumerate(kernels):
        host += launch
        gpu = max(gpu, host) + kernel
        host = gpu if number in waits else host
    return Case(f"{name}, {launch} µs a launch", (kernels, launch, waits), expected=gpu)


EXERCISE = Exercise(
    key="ch01.step",
    title="when a step has ended",
    language="python",
    name="finished",
    cases=lambda: [_case(*row) for row in STEPS],
    hints=(
        "Keep two clocks: when the host is free, and when the GPU is. Go through the kernels.",
        "A kernel starts when it has been asked for and the one before has ended: at the later of the two times.",
        "host = host + launch; gpu = max(gpu, host) + kernel; and after an .item() the host's clock is the GPU's.",
    ),
    solution="""
def finished(kernels, launch, waits):
    host, gpu = 0, 0
    for number, kernel in enumerate(kernels):
        host = host + launch
        gpu = max(gpu, host) + kernel
        if number in waits:
            host = gpu
    return gpu
""",
    why="The two clocks are those of two workers with a queue between them. If kernels are longer than launches the "
    "GPU's clock runs ahead, so `max` picks it and launches cost nothing after the first. If they are shorter, `max` "
    "picks the host's, and the kernels cost nothing but the last. `.item()` sets the clocks equal: what the host was "
    "ahead is lost.",
    stretch="let .item() also take 10 µs for its copy, in which neither of the two does anything else.",
    mistakes=(
        Mistake(
            "host and GPU take turns",
            "While a kernel runs the host asks for the next ones. Only .item() makes it wait.",
            (
                ("if number in waits", "if True"), (WORK, "gpu = gpu + launch + kernel"),
                (WORK, "gpu = sum(kernels) + launch * len(kernels)"),
            ),
        ),
        Mistake(
            "launches cost nothing",
            "A kernel cannot start before the host has asked for it. With short kernels the GPU waits for the host.",
            ((WORK, "gpu = gpu + kernel"), (ASK, "host = host"), (WORK, "gpu = sum(kernels)")),
        ),
        Mistake(
            "only the first launch is counted",
            "The first launch delays everything, but later ones can delay their kernels too: those that come after "
            "short kernels.",
            ((WORK, "gpu = (gpu or launch) + kernel"), (WORK, "gpu = launch + sum(kernels)")),
        ),
        Mistake(
            "the host never waits",
            "After the kernels in `waits` the code calls .item(): the host goes on only when that kernel has ended.",
            (("            host = gpu\n", "            pass\n"), ("if number in waits", "if False")),
        ),
        Mistake(
            "the host waits at the wrong kernels",
            "`waits` holds positions, from 0 on, of kernels *after* which .item() is called.",
            (("number in waits", "number + 1 in waits"), ("number in waits", "number not in waits"),
             ("number in waits", "number - 1 in waits"), ("number in waits", "waits")),
        ),
        Mistake(
            "a kernel does not wait for the one before",
            "The GPU does one kernel after the other here. A kernel starts when the host has asked for it *and* the "
            "one before has ended.",
            ((WORK, "gpu = host + kernel"), ("max(gpu, host)", "min(gpu, host)")),
        ),
        Mistake(
            "the time of the host",
            "That is when the host has asked for the last kernel. It is asked for the time at which that kernel ends.",
            (("    return gpu", "    return host"),),
        ),
        Mistake(
            "a kernel starts while it is asked for",
            "The launch comes first: the host is busy with it, and then the kernel can start.",
            ((f"        {ASK}\n        {WORK}\n", f"        {WORK}\n        {ASK}\n"),),
        ),
    ),
)  # fmt: skip
