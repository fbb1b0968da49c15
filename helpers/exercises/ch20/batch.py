"""The batch from which on a step of an LSTM is no longer limited by reading its weights."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = (  # hidden units, bytes a number, FLOPs a byte that the GPU wants
    (1024, 4, 9.6), (1024, 2, 9.6), (64, 4, 9.6), (1024, 2, 153.0), (1, 4, 0.3), (512, 4, 39.0), (100, 2, 79.0),
    (16, 4, 6.4), (4096, 2, 153.0), (128, 4, 0.4),
)  # fmt: skip


MOST = 5_000


def _batch(hidden: int, itemsize: int, wanted: float) -> int:
    for batch in range(1, MOST + 1):
        if 8 * batch * hidden**2 >= wanted * itemsize * (4 * hidden**2 + 5 * batch * hidden):
            return batch
    return 0


def _case(hidden: int, itemsize: int, wanted: float) -> Case:
    name = f"{hidden:,} units, {itemsize} bytes a number, {wanted} FLOPs a byte wanted"
    return Case(name, (hidden, itemsize, wanted), expected=_batch(hidden, itemsize, wanted))


MOVED = "itemsize * (4 * hidden * hidden + batch * hidden + 4 * batch * hidden)"

EXERCISE = Exercise(
    key="ch20.batch",
    title="the batch that a recurrent step needs",
    language="python",
    name="smallest_batch",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "The table above has FLOPs and bytes of one step. How do they grow with the batch?",
        "flops = 8 * batch * hidden * hidden. 4 * hidden * hidden weights are moved, the state, and the sums.",
        "for batch in range(1, 5001): return the first one with flops / moved >= wanted, and 0 behind the loop.",
    ),
    solution="""
def smallest_batch(hidden, itemsize, wanted):
    for batch in range(1, 5001):
        flops = 8 * batch * hidden * hidden
        moved = itemsize * (4 * hidden * hidden + batch * hidden + 4 * batch * hidden)
        if flops / moved >= wanted:
            return batch
    return 0
""",
    why="As long as the weights are most of the bytes, the intensity is 2 · batch / itemsize, so half as many bytes a "
    "number need half the batch. For few hidden units the state itself is what is moved, and no batch is enough.",
    stretch="Tensor Cores want far more FLOPs a byte than FP32 units do. Which batch does an H100 want in float16?",
    mistakes=(
        Mistake(
            "only the weights are moved",
            "The step also reads the state and writes four times as many sums: batch * hidden + 4 * batch * hidden.",
            ((MOVED, "itemsize * (4 * hidden * hidden)"),),
        ),
        Mistake(
            "numbers are not bytes",
            "The GPU wants FLOPs for each byte. A number has `itemsize` bytes.",
            ((MOVED, MOVED[12:-1]), (MOVED, "4" + MOVED[8:])),
        ),
        Mistake(
            "a multiply-add is two FLOPs",
            "Each weight is used for one multiplication and one addition: 2 · batch · hidden · 4 · hidden.",
            (("flops = 8", "flops = 4"),),
        ),
        Mistake(
            "four gates, four times the work",
            "The product makes 4 · hidden sums for each sequence, each of `hidden` terms.",
            (("flops = 8", "flops = 2"),),
        ),
        Mistake(
            "the result is left out",
            "Four sums for each hidden unit are written as well: 4 · batch · hidden numbers.",
            ((" + 4 * batch * hidden", ""),),
        ),
        Mistake(
            "one too many, or too few",
            "The smallest batch that reaches `wanted` is asked for, no other.",
            (("return batch", "return batch + 1"), ("return batch", "return batch - 1"),
             ("return batch", "return max(1, batch - 1)")),
        ),
        Mistake(
            "no batch is enough",
            "Where no batch reaches `wanted`, the answer is 0.",
            (("return 0", "return 5000"), ("return 0", "return None")),
        ),
    ),
    equivalent=(
        (("range(1, 5001)", "range(0, 5001)"), "a batch of 0 does nothing, so it reaches nothing"),
        (("range(1, 5001)", "range(1, 5002)"), "no case needs a batch of 5,001"),
        (("range(1, 5001)", "range(1, 5000)"), "no case needs a batch of 5,000"),
        ((">= wanted", "> wanted"), "no case meets what is wanted exactly"),
    ),
)  # fmt: skip
