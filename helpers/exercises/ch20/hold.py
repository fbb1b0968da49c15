"""Sequences of unequal length in one batch: whoever has ended keeps its state."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.checking.measures import sectors_per_request

BLOCK = 128
ROWS, COLUMNS = 32, 128
ENDED = "step < lengths[i / hidden]"


def _case(batch: int, hidden: int, step: int) -> Case:
    dice = np.random.default_rng(batch * hidden)
    new, old = numbers((batch, hidden), seed=batch), numbers((batch, hidden), seed=batch + 9)
    lengths = dice.integers(1, 2 * step + 3, batch).astype(np.int32)
    lengths[: min(batch, 2)] = (step, step + 1)[: min(batch, 2)]  # the two that tell < from <=
    wanted = np.where((step < lengths)[:, None], new, old)
    arguments = (new, old, lengths, Out(wanted), np.int32(step), np.int32(batch), np.int32(hidden))
    name = f"{plural(batch, 'sequence')} of {plural(hidden, 'unit')}, step {step}"
    return Case(name, arguments, (cover(batch * hidden, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch20.hold",
    title="a step for sequences of unequal length, in CUDA C",
    language="cuda",
    name="hold",
    cases=lambda: [_case(*each) for each in ((1, 1, 3), (2, 33, 0), (3, 5, 4), (7, 64, 9), (64, 7, 5), (5, 100, 2))],
    measured=lambda: _case(ROWS, COLUMNS, 10),
    budgets=(
        Budget(
            "sectors per store request",
            sectors_per_request("write"),
            4.2,
            "Neighbouring lanes should store neighbouring elements.",
            "global_store_sectors",
        ),
        Budget(
            "sectors loaded for 4,096 units",
            lambda profile: profile["global_read_sectors"],
            800,
            "Each unit needs one of the two states, 512 sectors in all, and each warp one sector of the lengths.",
        ),
    ),
    hints=(
        "At step t, which sequences of the batch still have an element to read?",
        "A sequence of length 3 has elements at the steps 0, 1 and 2. To which sequence does element i belong?",
        "out[i] = step < lengths[i / hidden] ? fresh[i] : old[i], for i below batch * hidden.",
    ),
    solution="""
extern "C" __global__
void hold(const float* fresh, const float* old, const int* lengths, float* out, int step, int batch, int hidden) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * hidden)
        out[i] = step < lengths[i / hidden] ? fresh[i] : old[i];
}
""",
    why="After its last element a sequence only carries its state on, so at the end of the loop every row holds the "
    "state at its own end. In PyTorch pack_padded_sequence goes further: it sorts the sequences by "
    "length, and leaves out those that have ended, so that no work is spent on padding.",
    stretch="put the choice into the fused LSTM cell, so that it costs no launch of its own.",
    mistakes=(
        Mistake(
            "one step too many",
            "A sequence of length 3 has its elements at the steps 0, 1 and 2. At step 3 it has ended.",
            (("step < lengths", "step <= lengths"),),
        ),
        Mistake(
            "one step too few",
            "The last element of a sequence of length 3 stands at step 2, and it still counts.",
            (("step < lengths", "step + 1 < lengths"),),
        ),
        Mistake(
            "fresh and old are swapped",
            "A sequence that goes on takes the fresh state; one that has ended keeps the old state.",
            (("fresh[i] : old[i]", "old[i] : fresh[i]"), ("step < lengths", "step >= lengths")),
        ),
        Mistake(
            "the length of the unit, not of the sequence",
            "There is one length a sequence, which is a row of the states: the row of element i is i / hidden.",
            (("i / hidden", "i % hidden"), ("i / hidden", "i")),
        ),
        Mistake(
            "sequences that have ended get zeros",
            "A sequence that has ended keeps its state: zeros would lose all that was read.",
            (("old[i]", "0"),),
        ),
        Mistake(
            "sequences that have ended are left alone",
            "out is another array than old, so what no thread writes is not the old state. Copy it.",
            ((f"out[i] = {ENDED} ? fresh[i] : old[i];", f"if ({ENDED}) out[i] = fresh[i];"),),
        ),
        Mistake(
            "nobody ever ends",
            "All sequences take the fresh state. Those whose length is reached have to keep the old state.",
            ((f"{ENDED} ? fresh[i] : old[i]", "fresh[i]"),),
        ),
        Mistake(
            "the guard knows one of the two sizes",
            "There are batch * hidden elements, and a thread for each of them.",
            (("i < batch * hidden", "i < hidden"), ("i < batch * hidden", "i < batch")),
        ),
    ),
)  # fmt: skip
