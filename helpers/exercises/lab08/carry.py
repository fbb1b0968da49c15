"""A long series through two small buffers, in CuPy: a state goes from piece to piece."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake
from helpers.checking.stream_work import OnDevice, Out
from helpers.exercises.lab08 import budgets as shared
from helpers.exercises.lab08.budgets import NO_THREADS, NO_WAITS, SERIES, STEPS, mebibytes_of_copies_in, smoothed
from helpers.exercises.lab08.kernels import CARRY, kernel

LINE = "\n        "
WAIT = f"if k:{LINE}    stream.wait_event(done)"
SET, RECORD = "room.set(part, stream)", "done.record(stream)"
LAUNCH = "smooth(blocks, threads, (room, level, *sizes), stream=stream)"
BACK = "room.get(stream, out=out[first : first + steps], blocking=False)"


def _case(length: int, steps: int, series: int, seed: int = 1) -> Case:
    x, level = shared.values(length, series, seed=seed), shared.values(series, seed=seed + 1)
    room = OnDevice(shared.blank(2, steps, series))
    arguments = x, room, OnDevice(level), Out(smoothed(x, level)), kernel(CARRY, "smooth")
    return Case(f"{length:,} × {series} in pieces of {steps}", arguments, block=shared.BLOCK)


def _drawn(dice: np.random.Generator) -> list[Case]:
    short = int(dice.integers(2, 9))
    sizes = [
        (short, short, 33),
        (int(dice.integers(20, 60)), int(dice.integers(3, 7)), 1),
        (int(dice.integers(100, 140)), int(dice.integers(20, 30)), 130),
    ]
    counted = 1800 + int(dice.integers(0, 200)), STEPS, SERIES
    return [_case(*size, shared.seed_of(dice)) for size in (*sizes, counted)]


EXERCISE = Exercise(
    key="lab08.carry",
    title="a long series through two small buffers",
    language="streams",
    name="carry",
    cases=lambda: [_case(*size) for size in ((1, 1, 1), (8, 8, 31), (13, 5, 97), (64, 16, 128), (97, 10, 200))],
    measured=lambda: _case(1900, STEPS, SERIES),
    drawn=_drawn,
    sanitize=True,
    budgets=(
        NO_WAITS,
        Budget(
            "MiB filled on the device",
            lambda timeline: mebibytes_of_copies_in(timeline, writes=True),
            1,
            "The two buffers are all the device memory that you have.",
        ),
        shared.time(
            310,
            "While a kernel works in one buffer, the other can be copied out and filled again. Let each wait for "
            "no more than it needs.",
        ),
    ),
    hints=(
        "Say for each of a piece's three steps which steps of earlier pieces it has to follow.",
        "Give each buffer a stream: then the buffers are in order by themselves. Only level goes from one stream "
        "to the other, and an event can order that.",
        "For piece k: stream = streams[k % 2]; set; stream.wait_event(done), if k > 0; smooth; done.record(stream);"
        " get(…, blocking=False). The last piece may be shorter: room = buffers[k % 2][: len(part)].",
    ),
    why="Two buffers, each with its stream, order themselves: a buffer is filled again when its copy out is over. "
    "Only the state goes across, and one event a piece orders that. Its place decides all: recorded "
    "behind the copy out it would be right as well, and nothing would overlap but the copies in. The "
    "kernels run one after another, as they must; the copies of one buffer run beside the other. So a sequence of "
    "any length runs in a fixed amount of device memory.",
    stretch="a third buffer: what does it buy, and which engine is then the busiest?",
    equivalent=((("range(2)", "range(3)"), "one stream more that nobody uses"),),
    mistakes=(
        Mistake(
            "every piece begins anew",
            "level holds what the piece before has left: pass the same array to each launch.",
            (
                ("room, level,", "room, level.copy(),"),
                (("    for k", "    levels = [level.copy() for _ in range(0, len(x), steps)]\n    for k"),
                 ("room, level,", "room, levels[k],")),
            ),
        ),
        Mistake("series without a thread", NO_THREADS, ((("(series + 255)", "(steps + 255)"), (" (256,)", " (32,)")),)),
        Mistake(
            "nothing orders the kernels",
            "Each kernel reads in level what the one before has written, and the two are in different streams. An "
            "event behind each kernel, and a wait ahead of the next, orders them.",
            (
                ((WAIT, ""), (RECORD, "")),
                (WAIT, ""),
                ((RECORD, ""), (LAUNCH, RECORD + LINE + LAUNCH)),
                ((RECORD, ""), (SET, SET + LINE + RECORD)),
            ),
        ),
        Mistake(
            "pieces come back to the same place",
            "Two copies back write the same part of out. A piece belongs where it came from: out[first : first + "
            "steps].",
            (("out=out[first : first + steps]", "out=out[: len(part)]"),),
        ),
        Mistake(
            "more memory than the two buffers",
            "Copies to the device have filled more than the two buffers hold. Reuse them in turn.",
            ((("    for k", "    whole = cp.empty(x.shape, 'float32')\n    for k"),
              ("buffers[k % 2][: len(part)]", "whole[first : first + steps]")),),
        ),
        Mistake(
            "the next piece waits for more than the kernel",
            "The next kernel needs level, which is there when the kernel is done. Its copy in needs nothing but a "
            "free buffer. Record directly behind the kernel, wait directly ahead of the next one.",
            (((RECORD, ""), (BACK, BACK + LINE + RECORD)), ((WAIT, ""), (SET, WAIT + LINE + SET))),
        ),
    ),
)  # fmt: skip
