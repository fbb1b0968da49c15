"""SwiGLU backwards in one kernel, which computes the sigmoid again in place of having saved it."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096
SLOPE = "s * (one + gate[i] * (one - s))"


def _case(size: int) -> Case:
    gate, up, d_out = (numbers(size, seed=size + k) for k in range(3))
    g = gate.astype(np.float64)
    s = 1 / (1 + np.exp(-g))
    d_gate, d_up = d_out * up * s * (1 + g * (1 - s)), d_out * g * s
    outs = (Out(d_gate.astype(np.float32)), Out(d_up.astype(np.float32)))
    return Case(plural(size, "element"), (gate, up, d_out, *outs), (cover(size, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch14.swiglu_backward",
    title="SwiGLU backwards, in Numba",
    language="numba",
    name="swiglu_backward",
    cases=lambda: [_case(size) for size in (1, 31, 128, 131, 1000)],
    measured=lambda: _case(COUNTED),
    budgets=(
        Budget(
            "bytes loaded for each element",
            lambda profile: profile["global_read_bytes"] / COUNTED,
            12,
            "Three floats: gate, up and d_out. Load each once, into a variable.",
        ),
        Budget(
            "bytes stored for each element",
            lambda profile: profile["global_write_bytes"] / COUNTED,
            8,
            "Two floats: d_gate and d_up.",
            "global_store_sectors",
        ),
        Budget(
            "FP64 operations",
            lambda profile: profile["flops_fp64"],
            0,
            "A Python number such as 1.0 makes Numba calculate in float64. Write np.float32(1).",
            "flops_fp64",
        ),
    ),
    tolerance=1e-4,
    hints=(
        "Forward: out = silu · up, with silu = gate · s and s = 1 / (1 + exp(-gate)). What is the gradient of a product "
        "with respect to each factor?",
        "d_up = d_out · silu, and d_gate = d_out · up · (the derivative of silu). That derivative is s + gate · s · (1 - s).",
        "s = one / (one + math.exp(-gate[i])), d_up[i] = d_out[i] * gate[i] * s, "
        f"d_gate[i] = d_out[i] * up[i] * {SLOPE}, with one = np.float32(1).",
    ),
    solution=f"""
import math
import numpy as np

@cuda.jit
def swiglu_backward(gate, up, d_out, d_gate, d_up):
    i = cuda.grid(1)
    if i < gate.size:
        one = np.float32(1)
        s = one / (one + math.exp(-gate[i]))
        d_gate[i] = d_out[i] * up[i] * {SLOPE}
        d_up[i] = d_out[i] * gate[i] * s
""",
    why="Nothing but the two inputs has to be kept for the backward pass. The sigmoid is computed a second time, which "
    "costs some arithmetic and no bytes; to save it would have cost a store in the forward pass, a load here, and memory "
    "in between. Eager PyTorch keeps the sigmoid's result and the product as well.",
    stretch="in a network, gate and up are the two halves of one matrix. What changes in the indices, and what in the "
    "sectors?",
    mistakes=(
        Mistake(
            "the derivative of the sigmoid alone",
            "silu is gate · s, a product: its derivative is s + gate · s · (1 - s).",
            ((SLOPE, "s * (one - s)"),),
        ),
        Mistake(
            "the sigmoid taken as constant",
            "The sigmoid depends on the gate as well: the derivative of gate · s has a second part, gate · s · (1 - s).",
            ((SLOPE, "s"),),
        ),
        Mistake(
            "the first part of the derivative is missing",
            "The derivative of gate · s is s + gate · s · (1 - s): the first part is missing.",
            ((SLOPE, "s * gate[i] * (one - s)"),),
        ),
        Mistake(
            "the two gradients are swapped",
            "d_up is multiplied by silu, d_gate by up.",
            ((f"d_gate[i] = d_out[i] * up[i] * {SLOPE}\n        d_up[i] = d_out[i] * gate[i] * s",
              f"d_up[i] = d_out[i] * up[i] * {SLOPE}\n        d_gate[i] = d_out[i] * gate[i] * s"),),
        ),
        Mistake(
            "the gradient from outside is missing",
            "Each gradient is multiplied by d_out, which comes from the layer above.",
            (("d_gate[i] = d_out[i] * up[i]", "d_gate[i] = up[i]"), ("d_up[i] = d_out[i] * gate[i]", "d_up[i] = gate[i]")),
        ),
        Mistake(
            "the sign of the exponent",
            "The sigmoid is 1 / (1 + exp(-gate)).",
            (("math.exp(-gate[i])", "math.exp(gate[i])"),),
        ),
        Mistake(
            "up is left out",
            "The gate's gradient is multiplied by up, the other factor of the product.",
            (("d_out[i] * up[i] *", "d_out[i] *"),),
        ),
        Mistake(
            "double precision has slipped in",
            "A Python number such as 1 or 1.0 makes Numba calculate in float64. Write np.float32(1).",
            (("one = np.float32(1)", "one = 1.0"), ("one = np.float32(1)", "one = 1")),
        ),
    ),
)  # fmt: skip
