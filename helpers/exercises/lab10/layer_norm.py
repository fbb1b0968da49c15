"""Layer norm of each row in one launch, the row in shared memory."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, numbers, plural
from helpers.exercises.lab10.budgets import BLOCK, FOUR_BARRIERS, THREE_ROWS

SQUARES = "squares += (row[i] - m) * (row[i] - m)"
JOINED = "for (int w = 0; w < 8; ++w) total += part[w];"
OF_SQUARES = """float sum = 0, squares = 0, total = 0, both = 0;
    for (int i = t; i < n; i += 256) {
        row[i] = x[r * n + i];
        sum += row[i];
        squares += row[i] * row[i];
    }
    __shared__ float more[8];
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
        squares += __shfl_xor_sync(0xffffffff, squares, d);
    }
    if (t % 32 == 0) part[t / 32] = sum, more[t / 32] = squares;
    __syncthreads();
    for (int w = 0; w < 8; ++w) total += part[w], both += more[w];
    float m = total / n, s = rsqrtf(fmaxf(both / n - m * m, 0) + eps);
    for (int i = t; i < n; i += 256) y[r * n + i] = (row[i] - m) * s * weight[i] + bias[i];"""


def _case(rows: int, n: int, eps: float = 1e-5, seed: int = 0) -> Case:
    x, weight, bias = (numbers(shape, seed=(seed or n) + k) for k, shape in enumerate(((rows, n), n, n)))
    x += np.float32(2000) * (np.arange(rows) % 2).astype(np.float32)[:, None]  # far from 0, as seen from the deviation
    exact, eps = x.astype(np.float64), np.float32(eps)
    rstd = 1 / np.sqrt(exact.var(axis=1, keepdims=True) + eps)
    wanted = ((exact - exact.mean(axis=1, keepdims=True)) * rstd * weight + bias).astype(np.float32)
    name = f"{plural(rows, 'row')} of {plural(n, 'element')}, eps {eps:g}"
    return Case(name, (x, weight, bias, Out(wanted), np.int32(n), eps), (rows,), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(2, int(dice.integers(2, 200)), 2.0), (int(dice.integers(3, 6)), int(dice.integers(257, 900)), 1e-5)]
    whole = (int(dice.integers(4, 7)), BLOCK * int(dice.integers(4, 9)), 0.5)
    return [_case(*shape, seed=int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


EXERCISE = Exercise(
    key="lab10.layer_norm",
    title="layer norm of each row in one launch, in CUDA C",
    language="cuda", name="layer_norm",
    cases=lambda: [_case(*shape) for shape in ((1, 1), (2, 31, 2), (3, 256), (2, 300, 2), (3, 2048))],
    measured=lambda: _case(4, 1024), drawn=_drawn,
    sanitize=True, shared_out=True, tolerance=2e-3,
    budgets=(THREE_ROWS, FOUR_BARRIERS),
    hints=(
        "Three passes over the row: its mean, the mean of (x - mean)², the result. The second wants the first to be "
        "finished, in all warps. Where does the row lie meanwhile?",
        "Keep it in row[], which each thread fills at t, t + 256, … and reads at the same places. A sum over the block "
        "is one of lanes by shuffles, then part[warp], a barrier, and the eight parts added by every thread.",
        "sum → part → __syncthreads() → m = total / n; squares of row[i] - m → __syncthreads(), since part is still "
        "being read → part → __syncthreads() → rsqrtf(total / n + eps).",
    ),
    why="The variance is found from the differences to the mean, which are small, and not as E[x²] - E[x]²: where x is "
    "2,000 and spreads by 4, x² is 4,000,000, of which a float keeps quarters, and the two means differ by 20. Two "
    "passes over memory would be the price, were the row not in shared memory: so it is loaded once, as are weight and "
    "bias for each row. Training keeps two numbers of a row, mean and rstd, 8 bytes, which let the backward pass do "
    "without any of the sums again. A longer row than 2,048 wants more of shared memory, or Welford's rule, which "
    "finds mean and variance in one pass without taking one large number from another.",
    stretch="Welford: each thread keeps (count, mean, sum of squares) of its own elements, and triples are joined as "
    "the pairs of lab 05 are. Is the row needed in shared memory then?",
    equivalent=(
        (("i += 256) y", "i += 255) y"), "some elements are stored twice, and are the same"),
        *(((f"16; d > 0; d /= 2) {sum_}", f"17; d > 0; d /= 2) {sum_}"), "still from each lane to every other, once")
          for sum_ in ("sum", "squares")),
        *(((f"if (t % 32 == 0) part[t / 32] = {sum_};", f"if (t % {one}) part[t / {other}] = {sum_};"),
           "all lanes of a warp have its sum, and one of them at least stores it")
          for sum_ in ("sum", "squares")
          for one, other in (("33 == 0", 32), ("31 == 0", 32), ("32 == 1", 32), ("32 == 0", 31))),
    ),
    mistakes=(
        Mistake(
            "the variance as a difference of large numbers",
            "E[x²] - E[x]² takes one large number from another that is nearly the same, where the mean is far from 0: "
            "what is left is rounding. Find the mean first, then the mean of (x - mean)².",
            (OF_SQUARES,),
        ),
        Mistake(
            "divided by n - 1",
            "torch.var divides by n - 1 unless told otherwise; layer norm divides by n.",
            (("rsqrtf(total / n", "rsqrtf(total / max(1, n - 1)"),),
        ),
        Mistake(
            "eps in another place",
            "eps is added to the variance before the root is taken: 1 / sqrt(variance + eps).",
            (("rsqrtf(total / n + eps)", "1 / (sqrtf(total / n) + eps)"), (" + eps)", ")"),
             ("rsqrtf(total / n + eps)", "(rsqrtf(total / n) + eps)")),
        ),
        Mistake(
            "not divided by the deviation",
            "The difference to the mean is multiplied by 1 / sqrt(variance + eps): the variance is a square, and the "
            "root is in the denominator.",
            (("rsqrtf(total / n + eps)", "sqrtf(total / n + eps)"),
             ("rsqrtf(total / n + eps)", "(1 / (total / n + eps))"),
             ("(row[i] - m) * s", "(row[i] - m)")),
        ),
        Mistake(
            "the sum of squares is not of differences",
            "The variance is the mean of (x - mean)², squared, and of the row itself.",
            ((SQUARES, "squares += row[i] * row[i]"), (SQUARES, "squares += (row[i] - m)"),
             (SQUARES, "squares += fabsf(row[i] - m)")),
        ),
        Mistake(
            "each warp has its own sum",
            "A block of 256 threads has eight warps, and each knows its own part of the row only. They join through "
            "part[]: every one stores its sum, and after a barrier each thread adds all eight.",
            ((JOINED, "total += part[t / 32];"), (JOINED, JOINED.replace("w < 8", "w < 4")),
             (JOINED, JOINED.replace("w = 0", "w = 1"))),
        ),
        Mistake(
            "lanes of a warp do not come together",
            "Five shuffles, by 16, 8, 4, 2 and 1, leave a warp's sum in all its lanes; the first lane stores it.",
            (("d = 16", "d = 8"), ("d > 0", "d > 1"), ("t % 32 == 0", "t % 32 == 31 && t < 32")),
        ),
        Mistake(
            "weight or bias of another element",
            "weight and bias have one element for each column, the same for all rows: y = (x - mean) · rstd · "
            "weight[i] + bias[i].",
            (("weight[i]", "weight[r]"), ("* weight[i] + bias[i]", "+ bias[i]"), (" + bias[i]", ""),
             ("* s * weight[i] + bias[i]", "* s * (weight[i] + bias[i])"), ("bias[i]", "bias[r]")),
        ),
        Mistake(
            "the mean is not taken off",
            "What is multiplied is the difference to the mean: (x - mean) · rstd.",
            (("(row[i] - m) * s", "row[i] * s"), ("y[r * n + i] = (row[i] - m)", "y[r * n + i] = (row[i] + m)")),
        ),
        Mistake(
            "the row is loaded again for every pass",
            "Right, and memory was asked for x three times: keep it in row[], where each thread finds what it has "
            "stored itself.",
            ((("row[i] = x[r * n + i];", ""), ("row[i]", "x[r * n + i]")),),
        ),
    ),
)  # fmt: skip
