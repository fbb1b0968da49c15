"""The plain recurrent cell as one kernel: two products come in, one hidden state goes out."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK = 128
SUM = "xw[i] + hu[i] + bias[i % hidden]"
ROWS, COLUMNS = 32, 128


def _case(batch: int, hidden: int) -> Case:
    xw, hu = (numbers((batch, hidden), seed=batch + k) / 4 for k in (0, 50))
    bias = numbers(hidden, seed=hidden) / 8
    wanted = np.tanh(xw + hu + bias).astype(np.float32)
    size = batch * hidden
    arguments = (xw, hu, bias, Out(wanted), np.int32(batch), np.int32(hidden))
    return Case(f"{plural(batch, 'sequence')} of {plural(hidden, 'unit')}", arguments, (cover(size, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch20.rnn_cell",
    title="the plain RNN's cell as one kernel, in CUDA C",
    language="cuda",
    name="rnn_cell",
    cases=lambda: [_case(*shape) for shape in ((1, 1), (1, 33), (3, 5), (7, 64), (64, 7), (5, 100))],
    measured=lambda: _case(ROWS, COLUMNS),
    budgets=(
        Budget(
            "bytes stored for each hidden unit",
            lambda profile: profile["global_write_bytes"] / (ROWS * COLUMNS),
            4,
            "One float is the result; sums on the way to it stay in a register.",
            "global_store_sectors",
        ),
        Budget(
            "sectors loaded for 4,096 hidden units",
            lambda profile: profile["global_read_sectors"],
            1540,
            "Two arrays of 4,096 floats are 1,024 sectors, and each warp reads 4 sectors of the bias.",
        ),
    ),
    tolerance=1e-4,
    hints=(
        "What would the four separate kernels be: two additions, and what else? Which of their results does nobody "
        "need?",
        "All arrays but the bias have batch · hidden elements, row after row. Which hidden unit is element i?",
        "out[i] = tanhf(xw[i] + hu[i] + bias[i % hidden]), for i below batch * hidden.",
    ),
    solution="""
extern "C" __global__
void rnn_cell(const float* xw, const float* hu, const float* bias, float* out, int batch, int hidden) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * hidden)
        out[i] = tanhf(xw[i] + hu[i] + bias[i % hidden]);
}
""",
    why="Two sums and a tanh as three kernels would move 32 bytes and more for each unit; this one moves 12 and the "
    "bias. It is also one launch a step in place of three, and in a recurrent network that is what counts.",
    stretch="let the kernel add the two products up itself. What do you have to know about the order of blocks?",
    equivalent=(),
    mistakes=(
        Mistake(
            "the bias is read like the other arrays",
            "The bias has one element for each hidden unit, not one for each sequence and unit. Element i belongs to "
            "unit i % hidden.",
            (("bias[i % hidden]", "bias[i]"),),
        ),
        Mistake(
            "the bias of the sequence, not of the unit",
            "The arrays are stored row after row, one row a sequence: the unit is the place within the row.",
            (("i % hidden", "i / hidden"), ("i % hidden", "i % batch")),
        ),
        Mistake(
            "no bias",
            "The cell is tanh(xw + hu + bias): the bias is missing.",
            ((" + bias[i % hidden]", ""),),
        ),
        Mistake(
            "the old state is left out",
            "Without hu the cell has no memory: each step sees its own input alone.",
            ((" + hu[i]", ""),),
        ),
        Mistake(
            "the input is left out",
            "Without xw the cell sees nothing of the sequence.",
            (("xw[i] + ", ""),),
        ),
        Mistake(
            "no tanh",
            "The sum is right. The hidden state is its tanh.",
            ((f"tanhf({SUM})", SUM),),
        ),
        Mistake(
            "the guard knows one of the two sizes",
            "There are batch * hidden elements, and a thread for each of them.",
            (("i < batch * hidden", "i < hidden"), ("i < batch * hidden", "i < batch")),
        ),
        Mistake(
            "the sum goes through memory",
            "Right, but out is stored more than once. Keep the sum in a variable: it costs no bytes there.",
            ((f"out[i] = tanhf({SUM});", "{ out[i] = xw[i] + hu[i]; out[i] = tanhf(out[i] + bias[i % hidden]); }"),),
        ),
        Mistake(
            "neighbouring lanes are a row apart",
            "Right, but the lanes of a warp take elements a whole row apart. Let thread i take element i.",
            (
                ("if (i < batch * hidden)\n        out[i]",
                 "if (i < batch)\n        for (int k = i * hidden, i = k; i < k + hidden; ++i) out[i]"),
            ),
        ),
    ),
)  # fmt: skip
