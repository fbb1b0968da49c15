"""The gradient of layer norm with two sums at once, from what the forward pass has kept."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, numbers, plural
from helpers.exercises.lab10.budgets import BLOCK, THREE_ROWS, TWO_BARRIERS

STORED = "s * (scaled[i] - (plain + normal[i] * along) / n)"
APART = """    row, normal = cuda.shared.array(1024, "float32"), cuda.shared.array(1024, "float32")
    part = cuda.shared.array(8, "float32")
    t, r, n = cuda.threadIdx.x, cuda.blockIdx.x, x.shape[1]
    plain, along = np.float32(0), np.float32(0)
    for i in range(t, n, 256):
        row[i] = grad[r, i] * weight[i]
        normal[i] = (x[r, i] - mean[r]) * rstd[r]
        plain += row[i]
        along += row[i] * normal[i]
    for k in (16, 8, 4, 2, 1):
        plain += cuda.shfl_xor_sync(0xFFFFFFFF, plain, k)
        along += cuda.shfl_xor_sync(0xFFFFFFFF, along, k)
    part[t // 32] = plain
    cuda.syncthreads()
    plain = np.float32(0)
    for w in range(8): plain += part[w]
    cuda.syncthreads()
    part[t // 32] = along
    cuda.syncthreads()
    along = np.float32(0)
    for w in range(8): along += part[w]
    for i in range(t, n, 256): dx[r, i] = rstd[r] * (row[i] - (plain + normal[i] * along) / n)"""


def _case(rows: int, n: int, seed: int = 0) -> Case:
    x, grad, weight = (numbers(shape, seed=(seed or n) + k) for k, shape in enumerate(((rows, n), (rows, n), n)))
    x += np.float32(100) * (np.arange(rows) % 3).astype(np.float32)[:, None]
    mean, exact = x.mean(axis=1, dtype=np.float64), x.astype(np.float64)
    rstd = 1 / np.sqrt(exact.var(axis=1) + 1e-2)
    normal, scaled = (exact - mean[:, None]) * rstd[:, None], grad.astype(np.float64) * weight
    sums = scaled.mean(axis=1, keepdims=True) + normal * (scaled * normal).mean(axis=1, keepdims=True)
    wanted = Out((rstd[:, None] * (scaled - sums)).astype(np.float32))
    kept = (each.astype(np.float32) for each in (mean, rstd))
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}"
    return Case(name, (x, grad, weight, *kept, wanted), (rows,), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(2, int(dice.integers(2, 200))), (int(dice.integers(3, 6)), int(dice.integers(257, 900)))]
    whole = (int(dice.integers(4, 7)), BLOCK * int(dice.integers(3, 5)))
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


EXERCISE = Exercise(
    key="lab10.layer_norm_backward",
    title="the gradient of layer norm in one launch, in Numba",
    language="numba", name="layer_norm_backward",
    cases=lambda: [_case(*shape) for shape in ((1, 1), (2, 31), (3, 256), (2, 300), (3, 1024))],
    measured=lambda: _case(4, 1024), drawn=_drawn,
    sanitize=True, shared_out=True, tolerance=1e-3,
    budgets=(THREE_ROWS, TWO_BARRIERS),
    hints=(
        "With g = grad · weight and z = (x - mean) · rstd, an element of dx is its own g, less what moving it does to "
        "the mean and to the deviation of its row. How many numbers of a row does that take?",
        "Two: Σ g and Σ g · z. Then dx = rstd · (g - Σg / n - z · Σ(g · z) / n). Keep g and z of the row in shared "
        "memory, and send both sums through the shuffles and the barrier together.",
        "One loop fills scaled[i] and normal[i] and adds to plain and along; five shuffles for each; the first lane of "
        "warp w stores part[0, w] and part[1, w]; one cuda.syncthreads(); every thread adds eight of each.",
    ),
    why="The formula looks like many kernels, and array operations make about ten of it, with rows going to DRAM and "
    "back between them. All that an element needs of the others is two sums, so one reduction and one map are left. "
    "`mean` and `rstd` were kept by the forward pass: 8 bytes for a row, in place of two more reductions. The "
    "gradients of weight and bias are sums down the columns, over all rows, which this launch could only add up with "
    "atomics or with a second, small kernel over partial sums: that is what PyTorch does too.",
    stretch="the gradients of weight and bias: Σ grad · z and Σ grad over all rows. Which threads have a column, "
    "so that lanes still read neighbours, and how do blocks join?",
    equivalent=(
        *(((old, new), "more room than is used")
          for old, new in (("scaled, normal = cuda.shared.array(1024", "scaled, normal = cuda.shared.array(1025"),
                           ('"float32"), cuda.shared.array(1024', '"float32"), cuda.shared.array(1025'),
                           ("((2, 8)", "((3, 8)"), ("((2, 8)", "((2, 9)"))),
        *(((old, new), "the distances still lead from each lane to every other, once")
          for old, new in (("(16,", "(17,"), (" 8, 4", " 9, 4"), (" 4,", " 5,"), (" 2, 1)", " 3, 1)"))),
        *(((old, new), "all lanes of a warp have its sums, and one of them at least stores them")
          for old, new in (("t % 32 == 0", "t % 33 == 0"), ("t % 32 == 0", "t % 31 == 0"),
                           ("t % 32 == 0", "t % 32 == 1"), ("part[0, t // 32]", "part[0, t // 31]"),
                           ("part[1, t // 32]", "part[1, t // 31]"))),
        (("256):\n        dx", "255):\n        dx"), "some elements are stored twice, and are the same"),
    ),
    mistakes=(
        Mistake(
            "as if mean and deviation stood still",
            "An element moves its row's mean and deviation too, which takes something off every gradient: Σg / n, and "
            "z · Σ(g · z) / n.",
            ((STORED, "s * scaled[i]"), (STORED, "s * (scaled[i] - plain / n)"),
             (STORED, "s * (scaled[i] - normal[i] * along / n)")),
        ),
        Mistake(
            "the gradient does not go through the weight",
            "What comes back to the normalised element is grad · weight, and that is the g of both sums.",
            (("grad[r, i] * weight[i]", "grad[r, i]"), ("weight[i]", "weight[r]"),
             (STORED, "s * (grad[r, i] - (plain + normal[i] * along) / n)")),
        ),
        Mistake(
            "not divided by the deviation",
            "z is (x - mean) · rstd, and the whole is multiplied by rstd once more, as z changes by rstd where x "
            "changes by 1.",
            ((STORED, STORED[4:]), ("(x[r, i] - m) * s", "(x[r, i] - m)"),
             (STORED, STORED.replace("s *", "s * s *", 1))),
        ),
        Mistake(
            "divided by another number than n",
            "Both are means over the row, which has n elements, however many threads the block has.",
            (("/ n)", "/ 256)"), (" / n)", ")"), ("/ n)", "/ (n - 1 + 1e-9))")),
        ),
        Mistake(
            "each warp has its own sums",
            "A block has eight warps, and each knows its part of the row only. The first lane of each stores both "
            "sums, and after a barrier every thread adds all eight.",
            (("in range(8)", "in range(t // 32, t // 32 + 1)"), ("in range(8)", "in range(4)"),
             ("in range(8)", "in range(1, 8)")),
        ),
        Mistake(
            "lanes of a warp do not come together",
            "Five shuffles for each of the two sums, by 16, 8, 4, 2 and 1.",
            (("(16, 8", "(8"), (", 2, 1)", ", 2)"), ("along += cuda.shfl", "along = cuda.shfl")),
        ),
        Mistake(
            "the two sums change places",
            "Σ g is taken off as it is, Σ (g · z) is multiplied by z first.",
            (("(plain + normal[i] * along)", "(along + normal[i] * plain)"),),
        ),
        Mistake(
            "one sum after the other",
            "Right, with a barrier more than needed for each: the second sum has a place of its own, so that both "
            "can be stored before one barrier.",
            (APART,),
        ),
    ),
)  # fmt: skip
