"""Three chains that join, in Numba: an order that nobody needs makes it longer."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake
from helpers.checking.stream_work import Out
from helpers.exercises.lab08 import budgets as shared
from helpers.exercises.lab08.budgets import NO_THREADS, NO_WAITS, SERIES, STEPS, smoothed

BLOCKS = "(x.shape[1] + 127) // 128"
TIMES = 8
"""How often the third part is smoothed."""
OF_Z = """    c = cuda.to_device(z, stream=three)
    smooth_by_thread[blocks, 128, three](c, 8)
    z_done.record(three)
"""
ON_Y, AGAIN = "    smooth_by_thread[blocks, 128, two](b, 1)\n", "(a, b)\n    smooth_by_thread[blocks, 128, one](a, 1)"
OWN_STREAMS = "cuda.stream(), cuda.stream(), cuda.stream()"
ONE_BY_ONE = """    a, b, c = (cuda.to_device(part, stream=one) for part in (x, y, z))
    smooth_by_thread[blocks, 128, one](a, 1); smooth_by_thread[blocks, 128, one](b, 1)
    add_by_thread[blocks, 128, one](a, b); smooth_by_thread[blocks, 128, one](a, 1)
    smooth_by_thread[blocks, 128, one](c, 8); add_by_thread[blocks, 128, one](a, c)
    a.copy_to_host(out, stream=one)
"""


def _case(steps: int, series: int, seed: int = 1) -> Case:
    x, y, z = (shared.values(steps, series, seed=seed + k) for k in range(3))
    wanted = smoothed(smoothed(x) + smoothed(y)) + smoothed(z, times=TIMES)
    return Case(f"{steps} × {series}", (x, y, z, Out(wanted)), block=shared.BLOCK)


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(1, int(dice.integers(2, 30))), (int(dice.integers(3, 40)), 131), (int(dice.integers(41, 70)), 257)]
    return [_case(*size, shared.seed_of(dice)) for size in (*sizes, (STEPS, SERIES))]


EXERCISE = Exercise(
    key="lab08.branches",
    title="three chains that join, in Numba",
    language="streams",
    name="branches",
    cases=lambda: [_case(*size) for size in ((1, 1), (7, 31), (16, 97), (33, 128), (5, 300))],
    measured=lambda: _case(STEPS, SERIES),
    drawn=_drawn,
    sanitize=True,
    budgets=(
        NO_WAITS,
        shared.time(
            258,
            "The chains need one another only where they join. Ask for the longest first, and wait for each as "
            "late as you can.",
        ),
    ),
    hints=(
        "Draw the chains. Which operation is the first that needs two of them?",
        "Three streams and two events, one behind y, one behind z. The first stream waits for y's ahead of the "
        "first add, for z's ahead of the second.",
        "c = cuda.to_device(z, stream=three); smooth[blocks, 128, three](c, 8); z_done.record(three), all of that "
        "first. Then x in one, y in two, y_done.record(two); y_done.wait(one); add[blocks, 128, one](a, b); …",
    ),
    why="The shortest possible time is that of the longest chain of things that need one another, and an order "
    "that nobody needs can only make it longer. wait() holds up what its stream is given afterwards, so its "
    "place matters as much as that of record(). And because one engine does all copies to the device, in the "
    "order of asking, the chain with most work behind its copy should be asked for first.",
    stretch="give z's stream priority, or copy z last and x first: what does the schedule say, and why?",
    equivalent=((("copy_to_host(out, stream=one)", "copy_to_host(out)"), "an array of Numba keeps its stream"),),
    mistakes=(
        Mistake(
            "a step is left out or done twice",
            f"x and y are smoothed once, their sum once more, z {TIMES} times.",
            (
                *(("(c, 8)", f"(c, {n})") for n in range(1, TIMES)),
                (AGAIN, "(a, b)"), (AGAIN, AGAIN.replace("1)", "2)")), (ON_Y, ""), ("(b, 1)", "(b, 2)"),
                ("    smooth_by_thread[blocks, 128, one](a, 1)\n    b", "    b"),
                ((AGAIN, "§"), ("(a, 1)", "(a, 2)"), ("§", AGAIN)),
            ),
        ),
        Mistake(
            "z is not in the result",
            "The smoothed sum of x and y came back alone: z's part was never added to it, or another array was.",
            (("    add_by_thread[blocks, 128, one](a, c)\n", ""), ("(a, c)", "(c, a)")),
        ),
        Mistake(
            "z alone",
            "z's part came back alone: copy back the array to which all three were added.",
            (("a.copy_to_host(out, stream=one)", "c.copy_to_host(out, stream=three)"),
             ("a.copy_to_host(out", "c.copy_to_host(out")),
        ),
        Mistake(
            "z is smoothed once too often",
            f"z is smoothed {TIMES} times and no more: it is added last, behind the smoothing of the sum.",
            (("(c, 8)", "(c, 9)"),
             ((AGAIN, "(a, b)"), ("(a, c)", "(a, c)\n    smooth_by_thread[blocks, 128, one](a, 1)"))),
        ),
        Mistake(
            "one of the three comes twice",
            "x, or y, was sent to the device in place of the other.",
            (("to_device(y", "to_device(x"), ("to_device(x", "to_device(y")),
        ),
        Mistake("series without a thread", NO_THREADS, (("x.shape[1]", "x.shape[0]"), (BLOCKS, "1"))),
        Mistake(
            "nothing makes a stream wait for the others",
            "add reads what another stream may still be working on. The result is right here, because the virtual "
            "GPU runs things in the order they are asked for; CUDA does not promise that.",
            (
                (("    y_done.wait(one)\n", ""), ("    z_done.wait(one)", "   ")),
                (("    y_done.wait(one)\n", ""), ("    z_done.wait(one)", "   "), ("    y_done.record(two)\n", ""),
                 ("    z_done.record(three)\n", "")),
            ),
        ),
        Mistake(
            "smoothed by more launches than needed",
            "Each launch costs the host a request, while the other chains wait to be asked for, and reads the "
            f"series anew. The second argument says how often: {TIMES} for z, in one launch.",
            (("    smooth_by_thread[blocks, 128, three](c, 8)",
              "    for _ in range(8):\n        smooth_by_thread[blocks, 128, three](c, 1)"),),
        ),
        Mistake(
            "everything in one stream",
            "Right, and in order, and nothing overlaps.",
            ((OWN_STREAMS, "[cuda.stream()] * 3"), ONE_BY_ONE),
        ),
        Mistake(
            "two chains share a stream",
            "What is in one stream runs one after the other. Give each of x, y and z a stream of its own.",
            ((OWN_STREAMS, "[cuda.stream()] * 2 + [cuda.stream()]"),),
        ),
        Mistake(
            "waits for z too early",
            "The sum of x and y does not need z, and yet waits for it. Wait for z behind all that can be done without "
            "it.",
            ((("    z_done.wait(one)", "   "), ("y_done.wait(one)\n", "y_done.wait(one)\n    z_done.wait(one)\n")),
             (("    z_done.wait(one)", "   "), (AGAIN, AGAIN.replace("\n", "\n    z_done.wait(one)\n")))),
        ),
        Mistake(
            "what takes longest is asked for last",
            "One engine copies to the device, in the order of asking, and z has by far the most to do: send it "
            "first, and launch its kernel before you ask for the rest.",
            (((OF_Z, ""), ("    y_done.wait(one)\n", f"{OF_Z}    y_done.wait(one)\n")),),
        ),
    ),
)  # fmt: skip
