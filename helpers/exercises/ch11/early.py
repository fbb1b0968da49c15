"""Wait for no more than you need: the host wants one result while a long kernel goes on."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, plural
from helpers.checking.stream_work import GPU, OnDevice, OutOfHost, microseconds, waits
from helpers.exercises.ch11.budgets import WORK, kernel, kernels, values, waited_until

BIG = 1 << 18


def _case(n: int) -> Case:
    x, few = values(n), np.int32(180 if n == BIG else 3)
    out = OutOfHost(2 * (x + np.float32(few)))
    arguments = (OnDevice(x), OnDevice(values(n, 7)), out, kernel(WORK, "work"), few, np.int32(10 * few))
    return Case(plural(n, "element"), arguments, block=(256,))


QUICK = "    work((16,), (256,), (first, np.int32(first.size), few), stream=quick)\n"
BACK = "    first.get(quick, out=out, blocking=False)\n"
SLOW = "    work((16,), (256,), (second, np.int32(second.size), many), stream=slow)\n"
WAIT, DOUBLE = "    quick.synchronize()\n", "    out *= 2\n"

EXERCISE = Exercise(
    key="ch11.early",
    title="wait for one stream and let the other work",
    language="streams",
    name="early",
    cases=lambda: [_case(n) for n in (1, 31, 997)],
    measured=lambda: _case(BIG),
    budgets=(
        Budget("kernels that are missing of 2", lambda t: max(0, 2 - kernels(t)), 0, "Both kernels are to run."),
        Budget("times that the host waits", waits, 1, "One wait is enough: for the copy of `first`."),
        Budget(
            f"modelled µs on {GPU} until the host goes on",
            waited_until,
            200,
            "The kernel on `first` and its copy are over long before the other kernel is.",
        ),
        Budget(
            f"modelled µs on {GPU} in all",
            microseconds,
            340,
            "The long kernel can run from the beginning: ask for it before the host waits.",
        ),
    ),
    sanitize=True,
    hints=(
        "Which operations must be over before the host may touch `out`? In which stream are they?",
        "A device's synchronize() waits for all streams; a stream has a synchronize() of its own.",
        "quick.synchronize() in place of the last wait; out *= 2 stands behind it.",
    ),
    solution=f"""
def early(first, second, out, work, few, many):
    quick = cp.cuda.Stream(non_blocking=True)
    slow = cp.cuda.Stream(non_blocking=True)
{QUICK}{BACK}{SLOW}{WAIT}{DOUBLE}""",
    why="The stream `quick` holds the kernel on `first` and the copy to `out`, and nothing else. When the host has "
    "waited for this stream, `out` is complete. The long kernel in the other stream goes on meanwhile.",
    stretch="ask for the long kernel first, and for the others after it. Does the host go on any later?",
    equivalent=(((", stream=slow)", ")"), "the default stream does not wait for non_blocking streams"),),
    mistakes=(
        Mistake(
            "the long kernel is not launched",
            "Both kernels are to run: the one on `second` has ten times the rounds.",
            ((SLOW, ""),),
        ),
        Mistake(
            "the host touches `out` too early",
            "get(…, blocking=False) only asks for the copy. Wait for its stream before the host touches `out`.",
            ((WAIT, ""), ((WAIT, ""), (DOUBLE, DOUBLE + WAIT))),
        ),
        Mistake(
            "the wrong stream",
            "The copy to `out` is in the other stream, so this wait says nothing about it, and it takes long.",
            (("quick.synchronize()", "slow.synchronize()"),),
        ),
        Mistake(
            "the event stands ahead of the copy",
            "An event marks what its stream was given before. Record it behind the copy.",
            (((WAIT, "    event.synchronize()\n"), (BACK, "    event = quick.record()\n" + BACK)),),
        ),
        Mistake(
            "the host waits for everything",
            "The long kernel is waited for as well, although `out` does not depend on it.",
            (
                ("quick.synchronize()", "cp.cuda.Device().synchronize()"),
                (("slow = cp.cuda.Stream(non_blocking=True)", "slow = quick"),),
            ),
        ),
        Mistake(
            "the long kernel begins late",
            "The host waits first and only then asks for the long kernel, so the GPU is idle in between.",
            (((SLOW, ""), (DOUBLE, SLOW + DOUBLE)), ((SLOW, ""), (DOUBLE, DOUBLE + SLOW))),
        ),
        Mistake(
            "more than one wait",
            "Each wait gives away the host's head start. One is enough, behind the copy.",
            ((BACK, WAIT + BACK), (BACK, BACK + "    quick.record().synchronize()\n")),
        ),
        Mistake(
            "the result is not doubled",
            "After the wait the host doubles what is in `out`.",
            ((DOUBLE, ""), ("out *= 2", "out += 2")),
        ),
    ),
)  # fmt: skip
