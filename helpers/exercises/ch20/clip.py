"""Gradient clipping by norm: all elements are scaled by one factor, and only when the norm is too large."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 4096
ROOT = "norm = math.sqrt(squares[0])"
FACTOR = "factor = min(np.float32(1), limit / norm)"


def _case(n: int, limit: float) -> Case:
    gradient = numbers(n, seed=n)
    squares = np.array([np.square(gradient, dtype=np.float64).sum()], np.float32)
    norm = np.sqrt(squares[0])
    wanted = (gradient * min(1.0, limit / norm)).astype(np.float32)
    arguments = (gradient, squares, np.float32(limit), Out(wanted))
    return Case(f"{plural(n, 'element')}, limit {limit:g}", arguments, (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch20.clip",
    title="clip a gradient by its norm, in Numba",
    language="numba",
    name="clip",
    cases=lambda: [_case(*each) for each in ((1, 0.25), (1, 50.0), (31, 2.0), (128, 1.0), (131, 500.0), (1000, 5.0))],
    measured=lambda: _case(COUNTED, 1.0),
    budgets=(
        Budget(
            "FP64 operations",
            lambda profile: profile["flops_fp64"],
            0,
            "A Python number such as 1.0 makes Numba calculate in float64. Write np.float32(1).",
            "flops_fp64",
        ),
        Budget(
            "bytes stored for each element",
            lambda profile: profile["global_write_bytes"] / COUNTED,
            4,
            "One float is stored for each element.",
            "global_store_sectors",
        ),
    ),
    tolerance=1e-4,
    hints=(
        "Clipping by norm keeps the direction of the gradient. What does that say about the factor of each element?",
        "squares[0] is the sum of the squares of all elements, so the norm is its root. When is the factor 1?",
        "factor = min(np.float32(1), limit / math.sqrt(squares[0])), and out[i] = gradient[i] * factor.",
    ),
    solution="""
import math
import numpy as np

@cuda.jit
def clip(gradient, squares, limit, out):
    i = cuda.grid(1)
    if i < gradient.size:
        norm = math.sqrt(squares[0])
        factor = min(np.float32(1), limit / norm)
        out[i] = gradient[i] * factor
""",
    why="The norm is one number for the whole gradient, found by a reduction (chapter 07) before this kernel. All "
    "elements get the same factor, so the direction stays; only a step that would be too long is shortened. A small "
    "gradient passes unchanged, which is why clipping does nothing against vanishing.",
    stretch="PyTorch clips all parameters of a network by one common norm. Why not each tensor by its own?",
    mistakes=(
        Mistake(
            "each element is clipped",
            "That is clipping by value: it bends the gradient into another direction. Clipping by norm multiplies all "
            "elements by one factor.",
            (("gradient[i] * factor", "max(-limit, min(limit, gradient[i]))"),),
        ),
        Mistake(
            "small gradients are made larger",
            "Where the norm is below the limit the gradient must stay as it is: the factor is never above 1.",
            ((FACTOR, "factor = limit / norm"), ("min(np", "max(np")),
        ),
        Mistake(
            "the square of the norm",
            "squares[0] is the sum of squares. The norm is its square root.",
            ((ROOT, "norm = squares[0]"),),
        ),
        Mistake(
            "limit and norm are swapped",
            "The factor is limit / norm: the longer the gradient, the smaller the factor.",
            (("limit / norm", "norm / limit"),),
        ),
        Mistake(
            "nothing is clipped",
            "Every element is copied as it is. Those of a gradient whose norm exceeds the limit have to shrink.",
            ((" * factor", ""),),
        ),
        Mistake(
            "the limit is left out",
            "The clipped gradient has the norm `limit`, which is not always 1.",
            (("limit / norm", "np.float32(1) / norm"),),
        ),
        Mistake(
            "what is too long becomes zero",
            "A gradient that is too long keeps its direction and gets the norm `limit`. Zero would end the training.",
            ((FACTOR, "factor = np.float32(1) if norm <= limit else np.float32(0)"),),
        ),
        Mistake(
            "double precision has slipped in",
            "A Python number such as 1 or 1.0 makes Numba calculate in float64. Write np.float32(1).",
            (("np.float32(1)", "1.0"), ("np.float32(1)", "1")),
        ),
    ),
)  # fmt: skip
