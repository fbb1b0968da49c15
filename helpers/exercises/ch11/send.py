"""Two arrays of the caller sent through pinned memory, without a wait."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake
from helpers.checking.stream_work import GPU, OutOnDevice, Pageable, microseconds
from helpers.exercises.ch11.budgets import NO_WAITS, WORK, kernel, kernels, unpinned, values


def _case(n: int, m: int) -> Case:
    x, y, rounds = values(n), values(m, 11), np.int32(3)
    room = np.full(n + m, np.nan, np.float32)
    out = OutOnDevice(np.concatenate([x, y]) + np.float32(rounds))
    arguments = (Pageable(x), Pageable(y), room, out, kernel(WORK, "work"), rounds)
    return Case(f"{n:,} and {m:,} elements", arguments, block=(256,))


STAGE_1, SEND_1 = "    room[:n] = first\n", "    device[:n].set(room[:n], stream)\n"
STAGE_2, SEND_2 = "    room[n:] = second\n", "    device[n:].set(room[n:], stream)\n"
LAUNCH = "    work((16,), (256,), (device, np.int32(device.size), rounds), stream=stream)\n"

EXERCISE = Exercise(
    key="ch11.send",
    title="send ordinary arrays without waiting",
    language="streams",
    name="send_both",
    cases=lambda: [_case(*sizes) for sizes in ((1, 1), (31, 7), (500, 997))],
    measured=lambda: _case(1 << 18, 1 << 17),
    budgets=(
        Budget("kernels that are missing", lambda t: max(0, 1 - kernels(t)), 0, "The kernel works on what was sent."),
        Budget("bytes sent from pageable memory", unpinned, 0, "Let the copy engine read from `room`."),
        NO_WAITS,
        Budget(
            f"modelled µs on {GPU} for 1.5 MiB", microseconds, 150,
            "Two copies and one kernel are enough.",
        ),
    ),
    sanitize=True,
    hints=(
        "`room` is pinned and has a place for both. What is written to it is an ordinary NumPy assignment.",
        "Fill a part of `room`, then ask for the copy of that part. Do it twice, with different parts.",
        "room[:n] = first; device[:n].set(room[:n], stream); and the same with [n:] and second.",
    ),
    solution=f"""
def send_both(first, second, room, device, work, rounds):
    stream = cp.cuda.Stream(non_blocking=True)
    n = first.size
{STAGE_1}{SEND_1}{STAGE_2}{SEND_2}{LAUNCH}""",
    why="The host copies each array into pinned memory itself, and the copy engine takes it from there. While the "
    "engine sends the first part, the host fills the second. The parts do not meet, so nothing has to wait.",
    stretch="what would have to be added if `room` had a place for only one of the two arrays at a time?",
    mistakes=(
        Mistake(
            "the kernel is not launched",
            "The arrays arrive and nothing works on them.",
            ((LAUNCH, ""),),
        ),
        Mistake(
            "sent before it is filled",
            "The copy engine may read as soon as the copy is asked for. Fill the part of `room` before that.",
            (((STAGE_1, ""), (SEND_1, SEND_1 + STAGE_1)), ((STAGE_2, ""), (SEND_2, SEND_2 + STAGE_2)),
             ((STAGE_1 + SEND_1 + STAGE_2 + SEND_2, SEND_1 + SEND_2 + STAGE_1 + STAGE_2),)),
        ),
        Mistake(
            "one place for both",
            "The first copy may still be reading this part of `room` when the host writes the second array there.",
            (((STAGE_2, "    room[:second.size] = second\n"),
              (SEND_2, "    device[n:].set(room[:second.size], stream)\n")),),
        ),
        Mistake(
            "still from pageable memory",
            "first and second are ordinary arrays, so the host waits in each copy. Copy from `room` instead.",
            (
                ((STAGE_1, ""), (SEND_1, "    device[:n].set(first, stream)\n"),
                 (STAGE_2, ""), (SEND_2, "    device[n:].set(second, stream)\n")),
                ((STAGE_2, ""), (SEND_2, "    device[n:].set(second, stream)\n")),
            ),
        ),
        Mistake(
            "one of the two is not sent",
            "Part of the device array is as it was: both arrays are to be sent.",
            ((SEND_1, ""), (SEND_2, ""), ((STAGE_2, ""), (SEND_2, ""))),
        ),
        Mistake(
            "nothing orders the second copy and the kernel",
            "In two streams the kernel does not wait for the copy in the other one. One stream is enough here.",
            ((SEND_2, "    other = cp.cuda.Stream(non_blocking=True)\n    device[n:].set(room[n:], other)\n"),),
        ),
        Mistake(
            "the kernel comes before a copy",
            "A stream keeps its order: what is asked for after the kernel arrives after it.",
            (((LAUNCH, ""), (SEND_2, LAUNCH + SEND_2)), ((LAUNCH, ""), (SEND_1, LAUNCH + SEND_1))),
        ),
        Mistake(
            "the host waits",
            "The stream orders the copies and the kernel, and the two parts of `room` do not meet. Nobody has to wait.",
            ((SEND_1, SEND_1 + "    stream.synchronize()\n"), (LAUNCH, LAUNCH + "    stream.synchronize()\n")),
        ),
    ),
)  # fmt: skip
