"""The smallest batch with which a linear layer reaches the ridge, if any does."""

from __future__ import annotations

import math

from helpers.checking.exercise import Case, Exercise, Mistake
from vgpu.hardware import gpus
from vgpu.tools.roofline import peak_flops

LAYERS = (  # inputs, outputs, bytes of a number, GPU, units
    (1024, 4096, 2, "A100", "fp16_tensor"),
    (4096, 4096, 2, "H100", "fp16_tensor"),
    (4096, 14336, 1, "H100", "fp8_tensor"),
    (1024, 4096, 4, "A100", "fp32"),
    (64, 64, 2, "A100", "fp16_tensor"),
    (4096, 16, 4, "T4", "fp32"),
    (10, 2000, 4, "A100", "fp32"),
)


def _smallest(inputs: int, outputs: int, itemsize: int, ridge: float) -> int:
    weights = inputs * outputs
    gain = 2 * weights - ridge * itemsize * (inputs + outputs)
    return math.ceil(ridge * itemsize * weights / gain) if gain > 0 else 0


def _case(inputs: int, outputs: int, itemsize: int, name: str, units: str) -> Case:
    row = gpus.find(name)
    peak, bandwidth = peak_flops(row, units), row.memory_bandwidth
    given = (inputs, outputs, itemsize, peak, bandwidth)
    expected = _smallest(inputs, outputs, itemsize, peak / bandwidth)
    return Case(f"{inputs} to {outputs}, {units} of {name}", given, expected=expected)


IMAGINARY = (
    Case("64 to 64, exactly on a ridge of 16", (64, 64, 2, 16e12, 1e12), expected=32),
    Case("64 to 64, with far more bandwidth than arithmetic", (64, 64, 4, 1e12, 4e12), expected=1),
)
BYTES = "nbytes = itemsize * (batch * inputs + inputs * outputs + batch * outputs)"

EXERCISE = Exercise(
    key="ch10.batch",
    title="the batch that reaches the ridge",
    language="python",
    name="smallest_batch",
    cases=lambda: [*(_case(*layer) for layer in LAYERS), *IMAGINARY],
    hints=(
        "Take one batch first. How many FLOP are its batch · inputs · outputs multiply-adds, and which three tensors "
        "move?",
        "The input has batch * inputs numbers, the weights inputs * outputs, and the output batch * outputs. The "
        "weights do not grow with the batch.",
        "Go through batch = 1, 2, 3, … up to 100,000 and return the first one whose FLOP, divided by its bytes, is at "
        "least peak / bandwidth. After the loop return 0.",
    ),
    solution="""
def smallest_batch(inputs, outputs, itemsize, peak, bandwidth):
    ridge = peak / bandwidth
    for batch in range(1, 100_001):
        flops = 2 * batch * inputs * outputs
        nbytes = itemsize * (batch * inputs + inputs * outputs + batch * outputs)
        if flops / nbytes >= ridge:
            return batch
    return 0
""",
    why="While the batch is small, the weights are nearly all that moves, and the intensity is about 2 · batch / "
    "itemsize. So the ridge is reached near batch = ridge · itemsize / 2, and a little later, since inputs and outputs "
    "move as well. A narrow layer never gets there: its inputs and outputs alone are too many bytes.",
    stretch="which widths reach the ridge of an H100's FP8 units at all, if inputs and outputs are equal?",
    equivalent=((("range(1, 100_001)", "range(0, 100_001)"), "no row is no FLOP, and reaches no ridge"),),
    mistakes=(
        Mistake(
            "some layers never reach it",
            "If no batch up to 100,000 rows is enough, return 0, and not the last batch that was tried.",
            (("    return 0", "    return batch"), ("    return 0", "    return 1")),
        ),
        Mistake(
            "only the weights move",
            "Inputs and outputs move as well, and they grow with the batch.",
            (
                (BYTES, "nbytes = itemsize * inputs * outputs"),
                (BYTES, "nbytes = itemsize * (inputs * outputs + batch * outputs)"),
                (BYTES, "nbytes = itemsize * (batch * inputs + inputs * outputs)"),
            ),
        ),
        Mistake(
            "every row loads the weights again",
            "The weights move once for the whole batch.",
            ((BYTES, "nbytes = itemsize * batch * (inputs + inputs * outputs + outputs)"),),
        ),
        Mistake(
            "a fused multiply-add is two operations",
            "Each of batch · inputs · outputs steps multiplies and adds.",
            (("flops = 2 * batch", "flops = batch"),),
        ),
        Mistake(
            "one row too many or too few",
            "The smallest batch is asked for: begin with 1, and return the first one that reaches the ridge.",
            (
                ("            return batch\n", "            return batch + 1\n"),
                ("            return batch\n", "            return batch - 1\n"),
            ),
        ),
        Mistake(
            "doubled each time",
            "Not only powers of two are batches. Try each number.",
            (("range(1, 100_001)", "(2**power for power in range(17))"),),
        ),
        Mistake(
            "elements are not bytes",
            "A number has `itemsize` bytes, and the ridge is FLOP for each byte.",
            ((BYTES, BYTES.replace("itemsize * ", "")),),
        ),
        Mistake(
            "a rule of thumb",
            "ridge · itemsize / 2 leaves out inputs and outputs, so the layer is not quite there.",
            (("    for batch", "    return round(ridge * itemsize / 2)\n    for batch"),),
        ),
    ),
)  # fmt: skip
