"""A layer of an LSTM over sequences of unequal length: what belongs in the loop, and which arrays may be reused."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, numbers, plural
from helpers.checking.stream_work import OnDevice, OutOnDevice, waits
from helpers.exercises.lab14 import shared
from helpers.exercises.lab14.kernels import PROJECT, STEP, kernel

SIZES = ((1, 1, 1, 1), (3, 2, 4, 5), (5, 7, 3, 20), (2, 20, 6, 33), (9, 3, 2, 16))
MEASURED = (20, 12, 8, 32)
BEFORE, LOOP = "    state = start\n", "    for t in range(steps):\n"
ALL = "project(((rows * columns + 255) // 256,), (256,), (x, W, b_ih + b_hh, from_input, *sizes))"
STEP_T = "from_input[t], U, state, lengths, out[t], np.int32(t)"
CARRY = "        state = out[t]\n"
EACH = """        project(((batch * columns + 255) // 256,), (256,),
                (x[t], W, both, from_input[t], np.int32(batch), *sizes[1:]))
"""
COPIED = (
    (STEP_T, STEP_T.replace("out[t]", "fresh")),
    (BEFORE, BEFORE + "    fresh = cp.empty_like(start)\n"),
    (CARRY, "        out[t] = fresh\n        state = out[t]\n"),
)


def _case(steps: int, batch: int, inputs: int, hidden: int, seed: int = 1) -> Case:
    dice = np.random.default_rng(seed)
    x, start = numbers((steps, batch, inputs), seed) / 4, numbers((batch, 2 * hidden), seed + 1) / 8
    W, U = numbers((4 * hidden, inputs), seed + 2) / 16, numbers((4 * hidden, hidden), seed + 3) / 32
    b_ih, b_hh = (numbers(4 * hidden, seed + k) / 8 for k in (4, 5))
    lengths = dice.integers(1, steps + 1, batch).astype(np.int32)
    lengths[0] = steps
    state, out = start.astype(np.float64), np.empty((steps, batch, 2 * hidden))
    for t in range(steps):
        z = x[t].astype(np.float64) @ W.T + b_ih + b_hh + state[:, :hidden] @ U.T
        state = out[t] = shared.masked(z, state, t < lengths)
    given = (x, W, U, b_ih, b_hh, start, lengths)
    arguments = (*map(OnDevice, given), OutOnDevice(out.astype(np.float32)))
    name = f"{plural(steps, 'step')}, {shared.name(batch, hidden)}"
    return Case(name, (*arguments, kernel(PROJECT, "project"), kernel(STEP, "step")), block=(shared.SIDE, shared.SIDE))


def _drawn(dice: np.random.Generator) -> list[Case]:
    few = (int(dice.integers(2, 6)), int(dice.integers(17, 30)), int(dice.integers(1, 6)), int(dice.integers(2, 16)))
    many = (int(dice.integers(10, 15)), int(dice.integers(2, 6)), 3, int(dice.integers(17, 30)))
    return [_case(*size, int(dice.integers(1, 10**6))) for size in (few, many, MEASURED)]


EXERCISE = Exercise(
    key="lab14.layer",
    title="a layer over sequences of unequal length",
    language="streams",
    name="layer",
    cases=lambda: [_case(*size) for size in SIZES],
    measured=lambda: _case(*MEASURED),
    drawn=_drawn,
    sanitize=True,
    tolerance=1e-4,
    budgets=(
        Budget(
            "requests per step",
            lambda timeline: shared.requests(timeline) / MEASURED[0],
            1.25,
            "A step has to wait for the step before it, but what comes from the input does not depend on any state. "
            "Ask for it once, for all steps. And a step can write where its result belongs: nothing has to be copied.",
        ),
        Budget(
            "waits of the host",
            waits,
            0,
            "The launches of one stream follow one another by themselves, so the host only asks: no synchronize(), and "
            "no get(), which waits for a copy.",
        ),
    ),
    hints=(
        "Of the four terms W x + b_ih + U h + b_hh, which ones are known for all steps before the first one begins?",
        "project takes any number of rows: steps * batch of them, if x is read as one long matrix. Each step then "
        "reads from_input[t], and writes to out[t], where the next step finds its state.",
        "from_input = cp.empty((steps, batch, 4 * hidden), dtype='float32'); project(…, (x, W, b_ih + b_hh, "
        "from_input, rows, inputs, columns)); state = start; in the loop step(…, (from_input[t], U, state, lengths, "
        "out[t], t, …)) and state = out[t].",
    ),
    why="Only U h has to wait for the step before it. All else is one large product, which a GPU is good at, in one "
    "launch. What is left in the loop is one launch a step, and no copy, since each step reads where the one before "
    "has written. The old state must stay as it is while a step runs, as every block reads all of h. Sequences that "
    "have ended keep their state, so the last row of out holds each one's own end. The work for them is wasted all "
    "the same: that is why `pack_padded_sequence` sorts by length, and lets the batch become smaller from step to "
    "step.",
    stretch="sort the batch by length, and launch only as many rows of blocks as still have a sequence to read.",
    equivalent=(
        (("// 256", "* 256"), "blocks behind the last row find nothing to do"),
        (("(16, 16)", "(16, 17)"), "two blocks store the same in the rows that they share"),
    ),
    mistakes=(
        Mistake("one bias only",
            "PyTorch adds two biases, b_ih and b_hh, and learns both. `project` takes one array: their sum.",
            (("b_ih + b_hh", "b_ih"), ("b_ih + b_hh", "b_hh"), ("b_ih + b_hh", "b_hh + b_hh"))),
        Mistake("every step begins with the first state",
            "The state of step t is what step t - 1 has left in out[t - 1].",
            ((CARRY, ""),)),
        Mistake("the first state is not used",
            "The first step begins with start, which need not be zeros: a caller may carry on where it has stopped.",
            (("state = start\n", "state = cp.zeros_like(start)\n"),)),
        Mistake("the same input at every step",
            "Step t reads from_input[t], which comes from x[t].",
            (("from_input[t]", "from_input[0]"), ("from_input[t]", "from_input"))),
        Mistake("steps are counted from another number",
            "Steps count from 0. The kernel compares the number with the lengths: a sequence of length 3 takes part in "
            "steps 0, 1 and 2.",
            (("np.int32(t)", "np.int32(t + 1)"), ("np.int32(t)", "np.int32(t - 1)"), ("np.int32(t)", "np.int32(0)"))),
        Mistake("backwards in time",
            "A sequence is read from its first element to its last one, so the first step takes x[0].",
            (("in range(steps)", "in reversed(range(steps))"), ("from_input[t]", "from_input[steps - 1 - t]"))),
        Mistake("every step is written to the same place",
            "Each step has a place of its own in out: out[t].",
            (("out[t]", "out[0]"), ("out[t]", "out[-1]"), ("out[t]", "out"))),
        Mistake("not every step is projected",
            "x has steps * batch rows, and each of them goes through W.",
            (("rows, columns = steps * batch", "rows, columns = batch"),
             ("rows, columns = steps * batch", "rows, columns = steps"))),
        Mistake("the state is updated in place",
            "Every thread reads the whole old h of its sequence. In place, other threads store the new h meanwhile, so "
            "that some threads read a mixture of both. Read from one array, and write to another.",
            (((BEFORE, BEFORE.replace("start", "start.copy()")), (STEP_T, STEP_T.replace("out[t]", "state")),
              (CARRY, "        out[t] = state\n")),)),
        Mistake("the input is projected step by step",
            "Right, but two launches a step, where one would do. `project` takes rows of all steps at once, because "
            "what comes from the input depends on no state.",
            (((ALL, "both = b_ih + b_hh"), (LOOP, LOOP + EACH)),
             ((ALL, "both = b_ih + b_hh"), (LOOP, LOOP + EACH), *COPIED),
             ((LOOP, LOOP + EACH.replace("both", "b_ih + b_hh")), (f"    {ALL}\n", "")),
             ((LOOP, LOOP + EACH.replace("both", "b_ih + b_hh")), (f"    {ALL}\n", ""), *COPIED))),
        Mistake("the state is copied at every step",
            "Right, but a copy is one more request a step. Let step write to out[t] itself, and let the next one read "
            "it there.",
            ((CARRY, "        state = out[t].copy()\n"), COPIED)),
        Mistake("the host waits",
            "Right, but the host waits though it needs nothing: launches of one stream follow one another anyway.",
            ((CARRY, CARRY + "        cp.cuda.Device().synchronize()\n"),
             (CARRY, CARRY + "    cp.cuda.Device().synchronize()\n"),
             (CARRY, CARRY + "    cp.cuda.get_current_stream().synchronize()\n"))),
    ),
)  # fmt: skip
