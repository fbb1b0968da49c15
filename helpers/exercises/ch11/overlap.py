"""Chunks over streams: both copy engines and the SMs at work at one time."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, plural
from helpers.checking.stream_work import GPU, OnDevice, Out, microseconds
from helpers.exercises.ch11.budgets import BIG, NO_WAITS, WORK, brought, kernel, values

ROUNDS = 180


def _case(n: int) -> Case:
    x, rounds = values(n), np.int32(ROUNDS if n == BIG else 3)
    arguments = (x, OnDevice(n), Out(x + np.float32(rounds)), kernel(WORK, "work"), rounds)
    return Case(plural(n, "element"), arguments, block=(256,))


EXERCISE = Exercise(
    key="ch11.overlap",
    title="copy in, work, copy out, in chunks over streams",
    language="streams",
    name="overlap",
    cases=lambda: [_case(n) for n in (1, 31, 997, 4096)],
    measured=lambda: _case(BIG),
    budgets=(
        brought(4 * BIG),
        NO_WAITS,
        Budget(
            f"modelled µs on {GPU} for 4 MiB",
            microseconds,
            300,
            "In one piece it takes about 475. Copies both ways and the kernel can work at one time, on different "
            "chunks.",
        ),
    ),
    sanitize=True,
    hints=(
        "A chunk is a slice: x[part], device[part], out[part]. Each chunk goes through one stream.",
        "Eight chunks over four streams, stream i % 4 for chunk i; min(n, …) ends the last one.",
        "device[part].set(x[part], stream); work((16,), (256,), (device[part], np.int32(size), rounds), "
        "stream=stream); device[part].get(stream, out=out[part], blocking=False)",
    ),
    solution="""
def overlap(x, device, out, work, rounds):
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    size = (x.size + 7) // 8
    for i, first in enumerate(range(0, x.size, size)):
        part, stream = slice(first, first + size), streams[i % 4]
        device[part].set(x[part], stream)
        work((16,), (256,), (device[part], np.int32(device[part].size), rounds), stream=stream)
        device[part].get(stream, out=out[part], blocking=False)
""",
    why="Each chunk's three steps follow one another in a stream; different chunks may overlap, so the two copy "
    "engines and the SMs all work at once. Eight chunks keep the start and the end short, when only one engine "
    "has something to do; 24 things to ask for still take the host less time than the copies take.",
    stretch="ask for all copies in first, then all kernels, then all copies out. Does the schedule change?",
    equivalent=((("range(4)", "range(5)"), "one stream more that nobody uses"),),
    mistakes=(
        Mistake(
            "a chunk of no elements",
            "With fewer elements than chunks, x.size // chunks is 0. Round up: (n + chunks - 1) // chunks.",
            (("(x.size + 7) // 8", "x.size // 8"), ("(x.size + 7) // 8", "x.size // 4")),
        ),
        Mistake(
            "the kernel takes a chunk for all",
            "The kernel goes up to the n that it is given, and the array that it is given ends before. n is the "
            "size of the chunk: np.int32(device[part].size).",
            (("device[part].size)", "x.size)"), ("np.int32(device[part].size)", "np.int32(size)")),
        ),
        Mistake(
            "nothing comes back",
            "The work is done on the device, and stays there: device[part].get(stream, out=out[part], "
            "blocking=False).",
            (("        device[part].get(stream, out=out[part], blocking=False)\n", ""),),
        ),
        Mistake(
            "the kernel is not launched",
            "What goes in comes out as it was: between the two copies stands the kernel.",
            (("work((16,), (256,), (device[part], np.int32(device[part].size), rounds), stream=stream)", "pass"),),
        ),
        Mistake(
            "two streams share one part of the device array",
            "A chunk in one stream overwrites what another stream still uses. Give each chunk its own slice.",
            (
                ("device[part]", "device[: min(size, x.size - first)]"),
                ("work((16,), (256,), (device[part], np.int32(device[part].size)",
                 "work((16,), (256,), (device, np.int32(x.size)"),
            ),
        ),
        Mistake(
            "nothing orders a chunk's three steps",
            "Copy in, work and copy out of one chunk belong into one stream, one after the other.",
            (
                ("get(stream", "get(streams[(i + 1) % 4]"),
                ("stream=stream", "stream=streams[(i + 1) % 4]"),
                (("i % 4", "0"), ("stream=stream", "stream=streams[1]"), ("get(stream", "get(streams[2]")),
            ),
        ),
        Mistake(
            "the last chunk is cut short",
            "n is not always a multiple of the number of chunks. Round up: (n + chunks - 1) // chunks.",
            (
                (("(x.size + 7) // 8", "max(1, x.size // 8)"), ("x.size, size)", "size * min(8, x.size), size)")),
                (("(x.size + 7) // 8", "max(1, x.size // 4)"), ("x.size, size)", "size * min(4, x.size), size)")),
            ),
        ),
        Mistake(
            "a kernel of few threads",
            "The kernel itself takes most of the time: some blocks of 256 threads, such as 16, have work enough "
            "in a chunk.",
            (("(16,), (256,)", "(1,), (1,)"), ("(16,), (256,)", "(1,), (32,)"), ("(16,), (256,)", "(1,), (256,)")),
        ),
        Mistake(
            "one stream only",
            "What is in one stream runs in order, however many chunks it has. Give the chunks streams in turn.",
            (
                (("range(4)", "range(1)"), ("i % 4", "0")),
                (("range(4)", "range(1)"), ("i % 4", "0"), ("(x.size + 7) // 8", "x.size")),
            ),
        ),
        Mistake(
            "too many chunks",
            "Each chunk is three things to ask for, each a launch overhead of the host. Take fewer, larger ones.",
            ((("+ 7) // 8", "+ 63) // 64"),), (("+ 7) // 8", "+ 31) // 32"),)),
        ),
        Mistake(
            "too few chunks",
            "With two or three chunks, most of the time only one engine has something to do: the first copy in and "
            "the last one out overlap with nothing. Take more, smaller ones.",
            ((("+ 7) // 8", "+ 1) // 2"), ("4", "2")), (("+ 7) // 8", "+ 1) // 2"),)),
        ),
    ),
)  # fmt: skip
