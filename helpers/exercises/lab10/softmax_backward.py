"""The gradient of softmax, a warp for each row: what the chain of array operations loads five times, loaded twice."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import NO_SHARED
from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.exercises.lab10.budgets import TWICE, WARP

WARPS = 4
STORED = "p[row, i] * (grad[row, i] - dot)"
REDUCED = "dot += cuda.shfl_xor_sync(0xFFFFFFFF, dot, k)"


def _case(rows: int, n: int, scale: float, seed: int = 0) -> Case:
    x, grad = numbers((rows, n), seed=seed or n), numbers((rows, n), seed=(seed or n) + 1)
    power = np.exp(x / 4 - x.max(axis=1, keepdims=True) / 4)
    p = power / power.sum(axis=1, keepdims=True)
    dot = (p.astype(np.float64) * grad).sum(axis=1, keepdims=True)
    wanted = (scale * p * (grad - dot)).astype(np.float32)
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}, times {scale:g}"
    return Case(name, (p, grad, Out(wanted), np.float32(scale)), (cover(rows, WARPS),), (WARPS * WARP,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 32)), 2.0), (int(dice.integers(5, 12)), int(dice.integers(33, 200)), 0.5)]
    whole = (int(dice.integers(5, 9)), WARP * int(dice.integers(20, 30)), 0.25)
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


EXERCISE = Exercise(
    key="lab10.softmax_backward",
    title="the gradient of softmax in one launch, in Numba",
    language="numba", name="softmax_backward",
    cases=lambda: [_case(*shape) for shape in ((1, 1, 1), (2, 31, 0.5), (5, 97, 1), (4, 32, 3), (3, 501, 0.125))],
    measured=lambda: _case(6, 1024, 0.125), drawn=_drawn,
    sanitize=True, shared_out=True,
    budgets=(TWICE, NO_SHARED),
    hints=(
        "Two steps: one number of each row, which all of its elements need, and then the elements one by one. Which "
        "of the two wants the help of other lanes?",
        "The number is Σ p · grad of the row. Each lane adds up its elements lane, lane + 32, …; five shuffles by xor "
        "leave the sum of the row in all lanes.",
        "dot += p[row, i] * grad[row, i] in the first loop, dot += cuda.shfl_xor_sync(0xFFFFFFFF, dot, k) for k in "
        "(16, 8, 4, 2, 1), and dx[row, i] = scale * p[row, i] * (grad[row, i] - dot) in the second loop.",
    ),
    why="Every element of a row is divided by the same sum, so each result depends on each element, and the gradient "
    "of an element on all gradients of its row: but only by one number, Σ p · grad. That is why the backward pass of "
    "softmax is a reduction followed by a map, as the forward pass is, and fits into one launch as well. It needs the "
    "result p, and not x. FlashAttention finds the same number in another way, from the output and its gradient, so "
    "that it need not hold a whole row of p.",
    stretch="keep the rows in registers, as in the forward kernel: cuda.local.array with constant indices. What does "
    "the compiler make of it, and how many bytes are loaded then?",
    equivalent=tuple(
        ((old, new), "the distances still lead from each lane to every other, once")
        for old, new in (("(16,", "(17,"), (" 8,", " 9,"), (" 4,", " 5,"), (" 2, 1)", " 3, 1)"))
    ),
    mistakes=(
        Mistake(
            "as if each result depended on its own element",
            "p · (1 - p) · grad is the gradient of each element alone. The sum that all are divided by depends on all: "
            "what is taken off is Σ p · grad of the row.",
            ((STORED, "p[row, i] * (1 - p[row, i]) * grad[row, i]"), (STORED, "p[row, i] * grad[row, i]")),
        ),
        Mistake(
            "each lane has its own sum",
            "A lane took off what it has added up itself. All 32 lanes need Σ p · grad of the row: five shuffles by "
            "xor, by 16, 8, 4, 2 and 1.",
            ((REDUCED, "pass"), ("(16, 8", "(8"), (", 2, 1)", ", 2)")),
        ),
        Mistake(
            "lane 0 alone knows the sum",
            "`shfl_down_sync` brings the total to lane 0 only. Every lane needs it: `shfl_xor_sync` leaves it in all.",
            (("shfl_xor_sync", "shfl_down_sync"),),
        ),
        Mistake(
            "the sum of the gradients",
            "What is taken off each gradient is their mean by the weights p: Σ p · grad, since p adds up to 1. A plain "
            "sum, or a plain mean, has no p in it.",
            (("dot += p[row, i] * grad", "dot += grad"), ("dot += p[row, i] * grad[row, i]", "dot += p[row, i]"),
             ("dot += p[row, i] * grad[row, i]", "dot += grad[row, i] / p.shape[1]")),
        ),
        Mistake(
            "the result is not multiplied by p",
            "The gradient is p · (grad - Σ p · grad), times scale: where p is nearly 0, so is the gradient.",
            ((STORED, "(grad[row, i] - dot)"),),
        ),
        Mistake(
            "the scale is forgotten, or multiplied twice",
            "softmax was taken of scale · x, so the gradient of x is scale times that of what the exponential saw, "
            "once.",
            (("scale * p", "p"), ("scale * p", "scale * scale * p"), ("scale * p", "1 / scale * p"),
             ("(grad[row, i] - dot)", "(grad[row, i] - scale * dot)")),
        ),
        Mistake(
            "a sign turned round",
            "What is taken off is the sum: grad - Σ p · grad. Where an element's gradient is above the mean of its "
            "row, the element grows.",
            (("grad[row, i] - dot", "dot - grad[row, i]"), ("grad[row, i] - dot", "grad[row, i] + dot")),
        ),
        Mistake(
            "a warp has only part of its row",
            "The 32 lanes of a warp share a row: they begin at their lane and go on by 32.",
            (("range(lane, p.shape[1], 32)", "range(lane, min(p.shape[1], 32), 32)"),
             ("p.shape[1], 32", "p.shape[1], 128")),
        ),
        Mistake(
            "warps that share a row",
            "Count warps of the whole grid: warp cuda.grid(1) // 32 has the row of that number, and a block has four.",
            (("grid(1) // 32", "blockIdx.x"), ("cuda.grid(1)", "cuda.threadIdx.x")),
        ),
    ),
)  # fmt: skip
