"""Batches through two pinned buffers, in CuPy: the host has to wait for what still reads them."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake
from helpers.checking.stream_work import OnDevice, Out, Pageable
from helpers.exercises.lab08 import budgets as shared
from helpers.exercises.lab08.budgets import NO_THREADS, SERIES, STEPS, mebibytes_of_copies_in, smoothed
from helpers.exercises.lab08.kernels import SMOOTH, kernel

LINE = "\n        "
WAIT, FILL = f"sent[slot].synchronize(){LINE}", f"staging[slot] = batches[k]{LINE}"
SEND, RECORD = "device[k].set(staging[slot], stream)", "sent[slot].record(stream)"
LAUNCH = "smooth(blocks, (256,), (device[k], *sizes), stream=stream)"
BACK = "device[k].get(stream, out=out[k], blocking=False)"


def _case(batches: int, steps: int, series: int, seed: int = 1) -> Case:
    x = shared.values(batches, steps, series, seed=seed)
    room, there = shared.blank(2, steps, series), OnDevice(shared.blank(*x.shape))
    arguments = Pageable(x), room, there, Out(smoothed(x)), kernel(SMOOTH, "smooth")
    return Case(f"{shared.batches(batches)} of {steps} × {series}", arguments, block=shared.BLOCK)


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(2, 1, int(dice.integers(2, 9))), (int(dice.integers(5, 8)), int(dice.integers(2, 40)), 129)]
    return [_case(*size, shared.seed_of(dice)) for size in (*sizes, (8, STEPS, SERIES))]


EXERCISE = Exercise(
    key="lab08.stage",
    title="batches through two pinned buffers",
    language="streams",
    name="stage",
    cases=lambda: [_case(*size) for size in ((1, 1, 1), (2, 7, 31), (3, 16, 97), (5, 10, 256), (8, 3, 300))],
    measured=lambda: _case(8, STEPS, SERIES),
    drawn=_drawn,
    sanitize=True,
    budgets=(
        shared.wait(8, "One wait a batch is enough: for the copy that still reads the buffer you are about to fill."),
        Budget(
            "MiB that batches are sent from",
            lambda timeline: mebibytes_of_copies_in(timeline, writes=False),
            1,
            "The two buffers are all the pinned memory that batches may be sent from: pinned memory is scarce.",
        ),
        shared.time(
            260,
            "Copies in can follow one another without a gap, if the host waits for the copy out of the buffer it "
            "wants to fill, and for nothing else.",
        ),
    ),
    hints=(
        "set() returns before the copy has run. Which later line of the loop changes what it reads?",
        "Record an event behind each copy, one event for each buffer; wait for it before that buffer is filled.",
        "sent[slot].synchronize() before staging[slot] = batches[k]; sent[slot].record(stream) after set(). An "
        "event that was never recorded is not waited for.",
    ),
    why="The host is a worker like the others, and shares memory with the copy engine. What it writes must not be "
    "under way, so it has to wait; an event behind the copy is the least it can wait for. Two buffers are "
    "enough: while one is being sent, the other is filled. Waiting for the stream would be right too, but then "
    "the host stands still until the kernel and the copy back are over, and the copy engine with it. A "
    "data loader that sends batches through pinned buffers has to do the same.",
    stretch="one buffer, or three: what does the schedule say? The host's own work takes no time in the model.",
    mistakes=(
        Mistake(
            "nothing is sent yet",
            "No copy to the device is in the recording: the kernel works on what was there before.",
            (((WAIT, ""), (FILL, ""), (SEND, ""), (RECORD, "")), (SEND, "")),
        ),
        Mistake(
            "what is sent was not filled before",
            "A buffer was sent in which nobody had put the batch. Fill staging[slot], then send staging[slot].",
            (
                ("set(staging[slot]", "set(staging[1 - slot]"),
                (FILL + SEND, SEND + LINE + FILL),
                ("set(staging[slot]", "set(staging[0]"),
                ((FILL, f"staging[0][:] = np.nan{LINE}{FILL}"), ("set(staging[slot]", "set(staging[0]")),
            ),
        ),
        Mistake(
            "smoothed never, or twice",
            "Each batch is smoothed once, between the copy in and the copy back.",
            (((LAUNCH, ""), (SEND, LAUNCH + LINE + SEND)), (LAUNCH, LAUNCH + LINE + LAUNCH), (LAUNCH, "")),
        ),
        Mistake(
            "the first batch comes back every time",
            "Each batch has a place of its own on the device: device[k].",
            (("device[k].get", "device[0].get"),),
        ),
        Mistake("series without a thread", NO_THREADS, ((("(series + 255)", "(steps + 255)"), (" (256,)", " (32,)")),)),
        Mistake(
            "a stream waits where the host has to",
            "wait_event holds up what the stream is given later. But it is the host that fills the buffer: let the "
            "host wait, by the event's synchronize().",
            (("sent[slot].synchronize()", "stream.wait_event(sent[slot])"),),
        ),
        Mistake(
            "the event stands in the wrong place",
            "The host waits, and yet fills a buffer that a copy may still be reading. An event stands for what its "
            "stream was given before record(): record it behind the copy, in that stream, and wait for it before that "
            "buffer is filled again.",
            (((RECORD, ""), (SEND, RECORD + LINE + SEND)), (WAIT + FILL, FILL + WAIT), ("staging[slot]", "staging[0]")),
        ),
        Mistake(
            "the host fills a buffer that is still being sent",
            "set() has only asked for the copy when it returns. Two batches later the host fills the same buffer, "
            "while the copy may still be reading it. On the virtual GPU the result is right all the same, for it "
            "copies at once; CUDA does not promise that.",
            ((WAIT, ""), ((WAIT, ""), (RECORD, ""))),
        ),
        Mistake(
            "batches that share a place on the device",
            "Two batches were sent to the same place of device, in different streams: the second one may arrive while "
            "a kernel or a copy back is still at the first. A batch has a place of its own there, device[k].",
            (("device[k]", "device[slot]"), ("device[k]", "device[0]")),
        ),
        Mistake(
            "the host waits for more than the copy",
            "The buffer is free as soon as it has been sent: an event directly behind set() says so. An event behind "
            "the kernel or the copy back, and synchronize() of a stream or of the device, wait for these too.",
            (
                ((WAIT, ""), (RECORD, ""), (BACK, f"{BACK}{LINE}stream.synchronize()")),
                ("sent[slot].synchronize()", "cp.cuda.Device().synchronize()"),
                ((RECORD, ""), (BACK, BACK + LINE + RECORD)),
            ),
        ),
        Mistake(
            "the host waits too early",
            "While one buffer is being sent, the host could fill the other one. Wait for a buffer's copy only when "
            "that buffer is to be filled again.",
            (((WAIT, ""), (RECORD, RECORD + LINE + WAIT)),),
        ),
        Mistake(
            "the host waits more often than once a batch",
            "Before a buffer is filled, its last copy has to be over. Nothing else needs a wait. get() waits, but "
            "for blocking=False.",
            ((", blocking=False", ""), (RECORD, RECORD + LINE + WAIT)),
        ),
    ),
)  # fmt: skip
