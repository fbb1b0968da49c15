"""SwiGLU backwards in one kernel, which computes the sigmoid again in place of having saved it."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096
SLOPE = "s * (one + g * (one - s))"


def _case(size: int) -> Case:
    gate, up, d_out = (numbers(size, seed=size + k) for k in range(3))
    g = gate.astype(np.float64)
    s = 1 / (1 + np.exp(-g))
    d_gate, d_up = d_out * up * s * (1 + g * (1 - s)), d_out * g * s
    both = Out(np.stack([d_gate, d_up]).astype(np.float32))
    return Case(plural(size, "element"), (gate, up, d_out, both), (cover(size, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch14.swiglu_backward",
    title="SwiGLU backwards, in Numba",
    language="numba",
    name="swiglu_backward",
    cases=lambda: [_case(size) for size in (1, 31, 128, 131, 1000)],
    measured=lambda: _case(COUNTED),
    budgets=(
        Budget(
            "sectors loaded for 4,096 elements",
            lambda profile: profile["global_read_sectors"],
            1536,
            "Three arrays of 512 sectors: gate, up and d_out. Load each element once, into a variable.",
        ),
        Budget(
            "bytes stored for each element",
            lambda profile: profile["global_write_bytes"] / COUNTED,
            8,
            "Two floats: the gradients of gate and of up.",
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
        "Forward: out = silu · up, with silu = gate · s and s = 1 / (1 + exp(-gate)). What is the gradient of a "
        "product "
        "with respect to each factor?",
        "d_up = d_out · silu, and d_gate = d_out · up · (the derivative of silu). That derivative is s + gate · s · "
        "(1 - s).",
        "With g, u, d = gate[i], up[i], d_out[i] and one = np.float32(1): s = one / (one + math.exp(-g)), "
        f"d_both[1, i] = d * g * s, d_both[0, i] = d * u * {SLOPE}.",
    ),
    solution=f"""
import math
import numpy as np

@cuda.jit
def swiglu_backward(gate, up, d_out, d_both):
    i = cuda.grid(1)
    if i < gate.size:
        one = np.float32(1)
        g, u, d = gate[i], up[i], d_out[i]
        s = one / (one + math.exp(-g))
        d_both[0, i] = d * u * {SLOPE}
        d_both[1, i] = d * g * s
""",
    why="Nothing but the two inputs has to be kept for the backward pass. The sigmoid is computed a second time, which "
    "costs some arithmetic and no bytes; to save it would have cost a store in the forward pass, a load here, and "
    "memory "
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
            "The sigmoid depends on the gate as well: the derivative of gate · s has a second part, gate · s · (1 - "
            "s).",
            ((SLOPE, "s"),),
        ),
        Mistake(
            "the first part of the derivative is missing",
            "The derivative of gate · s is s + gate · s · (1 - s): the first part is missing.",
            ((SLOPE, "s * g * (one - s)"),),
        ),
        Mistake(
            "the two gradients are swapped",
            "d_up is multiplied by silu, d_gate by up.",
            ((f"d_both[0, i] = d * u * {SLOPE}\n        d_both[1, i] = d * g * s",
              f"d_both[1, i] = d * u * {SLOPE}\n        d_both[0, i] = d * g * s"),),
        ),
        Mistake(
            "the gradient from outside is missing",
            "Each gradient is multiplied by d_out, which comes from the layer above.",
            (("d_both[0, i] = d * u", "d_both[0, i] = u"), ("d_both[1, i] = d * g", "d_both[1, i] = g")),
        ),
        Mistake(
            "only one gradient is written",
            "Both rows have to be written: the gradient of gate into row 0, and that of up into row 1.",
            ((f"        d_both[0, i] = d * u * {SLOPE}\n", "        d_both[0, i] = np.float32(0)\n"),),
        ),
        Mistake(
            "the sign of the exponent",
            "The sigmoid is 1 / (1 + exp(-gate)), with a minus in the exponent.",
            (("math.exp(-g)", "math.exp(g)"),),
        ),
        Mistake(
            "up is left out",
            "The gate's gradient is multiplied by up, the other factor of the product.",
            (("d * u *", "d *"),),
        ),
        Mistake(
            "an element is loaded twice",
            "Right, but gate[i] and d_out[i] are loaded again after a store. Load each into a variable first.",
            (("d_both[1, i] = d * g * s", "d_both[1, i] = d_out[i] * gate[i] * s"),),
        ),
        Mistake(
            "double precision has slipped in",
            "A Python number such as 1 or 1.0 makes Numba calculate in float64. Write np.float32(1).",
            (("one = np.float32(1)", "one = 1.0"), ("one = np.float32(1)", "one = 1")),
        ),
    ),
)  # fmt: skip
