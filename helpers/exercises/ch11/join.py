"""A missing dependency between two streams, in Numba."""

from __future__ import annotations

import functools

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, plural
from helpers.checking.stream_work import GPU, Out, microseconds
from helpers.exercises.ch11.budgets import BIG, NO_WAITS, brought, values


@functools.cache
def _kernels():
    from vgpu.standins import numba_cuda as cuda

    @cuda.jit
    def work(x, rounds):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            for _ in range(rounds):
                x[i] += 1

    @cuda.jit
    def add(x, y):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            x[i] += y[i]

    return work, add


def _case(n: int) -> Case:
    x, y, rounds = values(n), values(n, 5), 30 if n == BIG // 4 else 2
    arguments = (x, y, Out(x + y + np.float32(2 * rounds)), *_kernels(), rounds)
    return Case(plural(n, "element"), arguments, block=(256,))


RECORD, WAIT, ADD = "    ready.record(second)\n", "    ready.wait(first)\n", "    add[16, 256, first](a, b)\n"
ON_Y = "    work[16, 256, second](b, rounds)\n"

EXERCISE = Exercise(
    key="ch11.join",
    title="add the missing dependency, in Numba",
    language="streams",
    name="join",
    cases=lambda: [_case(n) for n in (1, 31, 997)],
    measured=lambda: _case(BIG // 4),
    budgets=(
        brought(BIG),
        NO_WAITS,
        Budget(
            f"modelled µs on {GPU} for 1 MiB each",
            microseconds,
            170,
            "The kernel on x and the copy of y need different engines: let them run side by side.",
        ),
    ),
    sanitize=True,
    hints=(
        "Which operations touch b, and in which stream is each of them?",
        "Record an event in the second stream behind its kernel; let the first stream wait for it before add.",
        "ready = cuda.event(); … ready.record(second); ready.wait(first); add[16, 256, first](a, b)",
    ),
    solution="""
def join(x, y, out, work, add, rounds):
    first = cuda.stream()
    second = cuda.stream()
    ready = cuda.event()
    a = cuda.to_device(x, stream=first)
    work[16, 256, first](a, rounds)
    b = cuda.to_device(y, stream=second)
    work[16, 256, second](b, rounds)
    ready.record(second)
    ready.wait(first)
    add[16, 256, first](a, b)
    a.copy_to_host(out, stream=first)
""",
    why="The event marks the place behind the kernel on b. The wait holds up the first stream there, and only what "
    "it is given later: its copy and its kernel have gone ahead. The host waits for nobody.",
    stretch="let the second stream copy its b back as well. Does it have to wait for add, which reads b too?",
    equivalent=((("copy_to_host(out, stream=first)", "copy_to_host(out)"), "an array of Numba keeps its stream"),),
    mistakes=(
        Mistake(
            "add is not launched",
            "The kernel's work on x comes back, and y has no part in it: add[16, 256, first](a, b).",
            ((ADD, ""), ((RECORD, ""), (WAIT, ""), (ADD, "")),
             ((RECORD, ""), (WAIT, ""), (ADD, ""), (ON_Y, ""), ("    b = cuda.to_device(y, stream=second)\n", ""))),
        ),
        Mistake(
            "the event stands in the wrong place",
            "An event stands for what its stream has been given before record(), and holds up what the other is "
            "given after wait(). Record behind the kernel on y; wait ahead of add.",
            (
                ((RECORD, ""), (ON_Y, RECORD + ON_Y)),
                ((WAIT, ""), (ADD, ADD + WAIT)),
                (("record(second)", "record(first)"), ("wait(first)", "wait(second)")),
                ("record(second)", "record(first)"),
                ((RECORD, ""), ("    b = ", "    ready.record(first)\n    b = ")),
                ("wait(first)", "wait(second)"),
            ),
        ),
        Mistake(
            "nothing makes the first stream wait",
            "add reads b in one stream while the other may still be working on it. The result is right here, "
            "because the virtual GPU runs things in the order they are asked for. CUDA does not promise that.",
            (((RECORD, ""), (WAIT, "")), (WAIT, "")),
        ),
        Mistake(
            "the host waits instead",
            "It orders the two, and stops the host meanwhile. An event lets the stream wait instead.",
            (
                (RECORD + WAIT, "    second.synchronize()\n"),
                (RECORD + WAIT, "    cuda.synchronize()\n"),
                ("ready.wait(first)", "ready.synchronize()"),
            ),
        ),
        Mistake(
            "everything in one stream",
            "Right, and in order, and nothing overlaps: the kernel on x could run while y is copied.",
            (
                ("second = cuda.stream()", "second = first"),
                (("second = cuda.stream()", "second = first"), (RECORD, ""), (WAIT, "")),
                ("    b = ", "    ready.record(first); ready.wait(second)\n    b = "),
            ),
        ),
    ),
)  # fmt: skip
