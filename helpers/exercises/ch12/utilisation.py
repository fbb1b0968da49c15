"""What nvidia-smi reports for a time line of kernels: the share of a period in which any of them ran."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = (  # name, (start, end) of each kernel in ms, (begin, end) of the sample period in ms
    ("one kernel for half of the period", [(100, 600)], (0, 1000)),
    ("nothing runs", [], (0, 500)),
    ("two kernels, one after the other", [(0, 100), (300, 500)], (0, 1000)),
    ("two kernels side by side", [(100, 600), (200, 700)], (0, 1000)),
    ("a short kernel inside a long one", [(0, 800), (100, 200), (400, 900)], (0, 1000)),
    ("one begins before the period and one ends after it", [(50, 250), (900, 1300)], (200, 1000)),
    ("kernels before and after the period", [(0, 100), (300, 350), (600, 900)], (200, 600)),
    ("in no order, one kernel three times over", [(700, 900), (100, 300), (700, 900), (0, 150), (700, 900)], (0, 1250)),
)  # fmt: skip


def _share(kernels: list, period: tuple) -> int:
    begin, end = period
    ran = sum(any(start <= moment < stop for start, stop in kernels) for moment in range(begin, end))
    return round(100 * ran / (end - begin))


CLIP = "start, stop = max(start, until), min(stop, end)"

EXERCISE = Exercise(
    key="ch12.utilisation",
    title="utilisation, as nvidia-smi defines it",
    language="python",
    name="utilisation",
    cases=lambda: [
        Case(name, (kernels, period), expected=_share(kernels, period)) for name, kernels, period in GIVEN
    ],
    hints=(
        "Draw the kernels on a line of time. Utilisation asks for the length of the line that is covered, however "
        "often.",
        "Go through the kernels in the order in which they start, and remember until when the line is covered.",
        "for start, stop in sorted(kernels): begin no earlier than `until`, stop no later than the period, add what is "
        "left, and move `until` on.",
    ),
    solution="""
def utilisation(kernels, period):
    begin, end = period
    busy, until = 0, begin
    for start, stop in sorted(kernels):
        start, stop = max(start, until), min(stop, end)
        if stop > start:
            busy += stop - start
            until = stop
    return round(100 * busy / (end - begin))
""",
    why="Only the covered time counts. A second kernel beside the first adds nothing, and neither does the number of "
    "SMs that a kernel fills, because nothing about its size goes into the formula.",
    stretch="a program launches a kernel of 10 µs every 10 ms, and another one a kernel of one block that never ends. "
    "What does each of them report, and which of them uses more of the GPU?",
    equivalent=((("stop > start", "stop >= start"), "a kernel of no length adds nothing"),),
    mistakes=(
        Mistake(
            "kernels side by side count twice",
            "Two kernels that run at the same time cover that time once. The question is whether any kernel ran.",
            (
                "    begin, end = period\n"
                "    busy = sum(stop - start for start, stop in kernels)\n"
                "    return round(100 * busy / (end - begin))\n",
                "    begin, end = period\n"
                "    busy = sum(max(0, min(stop, end) - max(start, begin)) for start, stop in kernels)\n"
                "    return round(100 * busy / (end - begin))\n",
                ((CLIP, "start, stop = max(start, begin), min(stop, end)"),),
            ),
        ),
        Mistake(
            "time outside the period counts",
            "A kernel may begin before the period or end after it. Only what lies inside the period counts.",
            (((CLIP, "start, stop = max(start, until), stop"),),
             (("busy, until = 0, begin", "busy, until = 0, 0"),)),
        ),
        Mistake(
            "from the first start to the last end",
            "Between two kernels the GPU is idle, and that time does not count, although work comes before and after.",
            (
                "    begin, end = period\n"
                "    inside = [(max(a, begin), min(b, end)) for a, b in kernels if a < end and b > begin]\n"
                "    if not inside:\n        return 0\n"
                "    busy = max(b for _, b in inside) - min(a for a, _ in inside)\n"
                "    return round(100 * busy / (end - begin))\n",
            ),
        ),
        Mistake(
            "a long kernel is forgotten",
            "A short kernel can end while a long one before it still runs. Remember the latest end so far.",
            (
                "    begin, end = period\n"
                "    busy, until = 0, begin\n"
                "    for start, stop in sorted(kernels):\n"
                "        busy += max(0, min(stop, end) - max(start, until))\n"
                "        until = stop\n"
                "    return round(100 * busy / (end - begin))\n",
            ),
        ),
        Mistake(
            "the kernels are taken as they come",
            "The list is in no order. Sort it by the start first, or the end that you remember is the wrong one.",
            ((("sorted(kernels)", "kernels"),),),
        ),
        Mistake(
            "a share is no per cent",
            "nvidia-smi reports whole per cent: multiply the share by 100 before you round.",
            ((("100 * ", ""),), (("round(100 * busy / (end - begin))", "busy / (end - begin)"),)),
        ),
        Mistake(
            "not whole per cent",
            "The number is right but not rounded: nvidia-smi reports whole per cent.",
            ((("round(100 * busy / (end - begin))", "100 * busy / (end - begin)"),),),
        ),
        Mistake(
            "idle time is reported",
            "That is the part of the period in which nothing ran. Utilisation is the other part.",
            ((("100 * busy", "100 * (end - begin - busy)"),),),
        ),
    ),
)  # fmt: skip
