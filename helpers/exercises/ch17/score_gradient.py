"""The gradient of attention scores: weights made again from L, and the term D that the softmax brings in."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK, COUNTED = 128, 64
WEIGHT, ROW = "expf(s[i] - L[row])", "int row = i / keys;"


def _case(queries: int, keys: int) -> Case:
    s, dp = numbers((queries, keys), seed=keys), numbers((queries, keys), seed=keys + 1)
    wide = s.astype(np.float64)
    m = wide.max(axis=1)
    L = m + np.log(np.exp(wide - m[:, None]).sum(axis=1))
    p = np.exp(wide - L[:, None])
    D = (p * dp).sum(axis=1)
    wanted = (p * (dp - D[:, None])).astype(np.float32)
    arguments = (s, L.astype(np.float32), dp, D.astype(np.float32), Out(wanted), np.int32(queries), np.int32(keys))
    name = f"{queries} {'query' if queries == 1 else 'queries'}, {plural(keys, 'key')}"
    return Case(name, arguments, (cover(queries * keys, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch17.score_gradient",
    title="the gradient of the scores, in CUDA C",
    language="cuda",
    name="score_gradient",
    cases=lambda: [_case(*each) for each in ((1, 1), (1, 5), (2, 3), (7, 16), (33, 9), (13, 31))],
    measured=lambda: _case(COUNTED, COUNTED),
    tolerance=1e-4,
    budgets=(
        Budget(
            "exponentials for each score",
            lambda profile: profile["special_functions"] / COUNTED**2,
            1,
            "One exponential makes a weight again: exp(s - L). No sum and no division is needed.",
            "special_functions",
        ),
        Budget(
            "bytes of all sectors for each score",
            lambda profile: 32 * (profile["global_read_sectors"] + profile["global_write_sectors"]) / COUNTED**2,
            16,
            "Two floats come and one goes, and L and D once for each row that a warp touches.",
        ),
    ),
    hints=(
        "Element i belongs to query i / keys. Which numbers belong to the query, and which to the element?",
        "The weight is P = exp(S - L). The softmax sends back dS = P · (dP - D).",
        "int row = i / keys; then ds[i] = expf(s[i] - L[row]) * (dp[i] - D[row]). There are queries * keys elements.",
    ),
    solution=f"""
extern "C" __global__
void score_gradient(const float* s, const float* L, const float* dp, const float* D, float* ds,
                    int queries, int keys) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < queries * keys) {{
        {ROW}
        ds[i] = {WEIGHT} * (dp[i] - D[row]);
    }}
}}
""",
    why="L = m + log l holds all that the forward pass has to keep of a row of the softmax: exp(S - L) is the weight, "
    "already divided. D is what all keys of a row share, because raising one weight lowers all others.",
    stretch="sum each row of ds. Why must it be 0?",
    mistakes=(
        Mistake(
            "the term D is left out",
            "The weights of a row add up to 1, so raising one lowers the others. That is what D takes off.",
            (("(dp[i] - D[row])", "dp[i]"),),
        ),
        Mistake(
            "D is added",
            "dS = P · (dP - D): the term is subtracted.",
            (("dp[i] - D[row]", "dp[i] + D[row]"), ("(dp[i] - D[row])", "(D[row] - dp[i])")),
        ),
        Mistake(
            "D is outside the product",
            "dP - D is multiplied by the weight as a whole.",
            (("(dp[i] - D[row])", "dp[i] - D[row]"),),
        ),
        Mistake(
            "not divided by l",
            "Without L that is exp(S), no weight. exp(S - L) is divided by the sum already.",
            ((WEIGHT, "expf(s[i])"),),
        ),
        Mistake(
            "the score instead of the weight",
            "The softmax sends back P · (dP - D), with the weight P = exp(S - L).",
            ((WEIGHT, "(s[i] - L[row])"), (WEIGHT, "s[i]")),
        ),
        Mistake(
            "the wrong sign in the exponent",
            "The weight is exp(S - L), which is at most 1, because L is not below any score of its row.",
            ((WEIGHT, "expf(L[row] - s[i])"), (WEIGHT, "expf(s[i] + L[row])")),
        ),
        Mistake(
            "L and D of the key, not of the query",
            "L and D belong to rows: the query of element i is i / keys, and i % keys is its key.",
            ((ROW, "int row = i % keys;"),),
        ),
        Mistake(
            "the guard knows one of the two sizes",
            "There are queries · keys scores, and a thread for each of them.",
            (("i < queries * keys", "i < keys"), ("i < queries * keys", "i < queries")),
        ),
    ),
)  # fmt: skip
