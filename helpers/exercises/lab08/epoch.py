"""A graph for each batch, in CuPy: captured once with two streams, launched with new data."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, plural
from helpers.checking.stream_work import OnDevice, Out
from helpers.exercises.lab08 import budgets as shared
from helpers.exercises.lab08.budgets import requests, smoothed
from helpers.exercises.lab08.kernels import ADD, LAYER, kernel

SUM = "add(((x.size + 255) // 256,), (256,), (f, b, np.int32(x.size)), stream=one)"
BEGIN, END, FORK = "one.begin_capture()\n    ", "graph = one.end_capture()", "fork.record(one)"
SET, LAUNCH, BACK = "x.set(batches[k], one)", "graph.launch(one)", "f.get(one, out=out[k], blocking=False)"
LINE, LOOP = "\n        ", "for k in range(len(batches)):\n        "
ALONE = (FORK, ""), ("two.wait_event(fork)", ""), ("join.record(two)\n    one.wait_event(join)", "")
EACH = f"""    fork, join = cp.cuda.Event(), cp.cuda.Event()
    HEAD{LOOP}{SET}
        {FORK}; two.wait_event(fork)
        for d in range(depth):
            layer(blocks, threads, (f if d > 0 else x, f, *sizes, np.int32(0)), stream=one)
            layer(blocks, threads, (b if d > 0 else x, b, *sizes, np.int32(1)), stream=two)
        join.record(two); one.wait_event(join); {SUM}
        {BACK}
"""


def _case(batches: int, steps: int, series: int, depth: int, seed: int = 1) -> Case:
    x = shared.values(batches, steps, series, seed=seed)
    blank = OnDevice(shared.blank(steps, series))
    wanted = smoothed(x, times=depth) + smoothed(x[:, ::-1], times=depth)[:, ::-1]
    arguments = (x, blank, blank, blank, Out(wanted), kernel(LAYER, "layer"), kernel(ADD, "add"), depth)
    name = f"{shared.batches(batches)} of {steps} × {series}, {plural(depth, 'layer')}"
    return Case(name, arguments, block=shared.BLOCK)


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (2, 1, int(dice.integers(2, 9)), 1),
        (int(dice.integers(4, 7)), int(dice.integers(3, 20)), 37, 2),
        (3, int(dice.integers(20, 40)), 130, 4),
    ]
    return [_case(*size, shared.seed_of(dice)) for size in (*sizes, (8, 64, 128, 3))]


EXERCISE = Exercise(
    key="lab08.epoch",
    title="capture once, launch for every batch",
    language="streams",
    name="epoch",
    cases=lambda: [_case(*size) for size in ((1, 1, 1, 1), (2, 7, 31, 2), (5, 16, 97, 3), (3, 33, 128, 1))],
    measured=lambda: _case(8, 64, 128, 3),
    drawn=_drawn,
    sanitize=True,
    budgets=(
        Budget("requests of the host", requests, 35,
            "What is captured is asked for once, and a launch of the graph is one request, whatever is in it.",
        ),
        shared.time(
            200, "Within the graph too only what is ordered runs in order: the two directions may run side by side."
        ),
    ),
    hints=(
        "What is the same for every batch, and what is not? Capture the former, once.",
        "In the capture: an event in one, for which two waits; the chains in one and two; an event in two, for "
        "which one waits; then add.",
        "fork.record(one); two.wait_event(fork); the layers; join.record(two); one.wait_event(join); add(…, "
        "stream=one); graph = one.end_capture(). For each batch: x.set(…, one); graph.launch(one); f.get(…).",
    ),
    why="A stream that waits for an event of the capture is captured too, so a graph can hold any order, not just "
    "a chain. Its kernels keep their arguments; new data come by a copy into the same array, in the same "
    "stream, and so in order. The host then asks for three things a batch, however deep the network is. That "
    "is what torch.cuda.CUDAGraph does, and why it wants static inputs.",
    stretch="two sets of arrays and two graphs, so that the next batch is copied in while the last is worked on: what "
    "does it gain? (Two captures take a few requests more than the limit: try it in a cell of its own.)",
    equivalent=((("np.int32(1)", "np.int32(2)"), "anything but 0 is backward"),),
    mistakes=(
        Mistake(
            "the graph is never launched",
            "A capture runs nothing. graph.launch(stream) does, each time you call it.",
            ((LAUNCH, ""),),
        ),
        Mistake(
            "a launch in the wrong place",
            "Each batch needs its own launch, between its copy in and its copy back.",
            (
                (SET + LINE + LAUNCH, LAUNCH + LINE + SET),
                *(((LAUNCH, ""), (each, each + "\n    " + LAUNCH)) for each in (END, BACK)),
            ),
        ),
        Mistake(
            "the graph copies the same batch each time",
            "A graph keeps its arguments, those of copies too. Leave the copies out of it: ahead of each launch "
            "one brings a batch to x, behind it one brings f to out[k].",
            (((SET, ""), (BEGIN, BEGIN + "x.set(batches[0], one)\n    ")),
             (END, "f.get(one, out=out[0], blocking=False)\n    " + END)),
        ),
        Mistake(
            "both chains run one way",
            "The last argument of layer says whether it goes backward: 0 for f, 1 for b.",
            (("np.int32(1)", "np.int32(0)"), ("np.int32(0)", "np.int32(1)")),
        ),
        Mistake(
            "another number of layers",
            "Each direction has `depth` layers: the first reads x, each other one what the one before it wrote, "
            "in f or in b.",
            (
                (("(f if d", "(x if d"), ("(b if d", "(x if d")), ("(f if d", "(x if d"), ("(b if d", "(x if d"),
                *(("range(depth)", f"range({n})") for n in (1, 2, 3, "depth + 1")),
            ),
        ),
        Mistake(
            "f and b are not added up",
            "What comes back is f or b alone, at least in part. add(f, b, n) adds all n = x.size elements, and f "
            "is the result.",
            ((SUM, ""), ("f.get", "b.get"), ("np.int32(x.size)", "np.int32(x.shape[1])"), ("(f, b,", "(b, f,")),
        ),
        Mistake(
            "the second stream is outside the capture",
            "Only what the first stream leads to is captured. Record an event in the first stream within the "
            "capture, and let the second wait for it: from then on it is captured too.",
            (ALONE, (*ALONE, (BEGIN, f"{FORK}\n    two.wait_event(fork)\n    {BEGIN}"))),
        ),
        Mistake(
            "the whole loop is captured",
            "The graph holds every batch, so the host asks for all of it one by one. Capture what is the same for "
            "every batch.",
            (EACH.replace("HEAD", BEGIN) + f"    {END}\n    {LAUNCH}",),
        ),
        Mistake(
            "no graph",
            "Every batch asks for each kernel anew, and the host cannot ask as fast as the GPU works.",
            (EACH.replace("HEAD", ""),
             EACH.replace("HEAD", "").replace(f"{FORK}; two.wait_event(fork)", "pass").replace("two", "one")
                 .replace("join.record(one); one.wait_event(join); ", "")),
        ),
        Mistake(
            "one direction after the other",
            "The graph's nodes follow one another. Let a second stream join the capture by an event, and give it "
            "the backward chain.",
            ((("two.wait_event", "one.wait_event"), ("stream=two", "stream=one"), ("record(two)", "record(one)")),),
        ),
    ),
)  # fmt: skip
