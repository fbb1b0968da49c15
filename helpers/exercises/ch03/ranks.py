"""The k-th smallest of each thread's four values, all of them in registers."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d

BLOCK = 128
FOUR = 4
EXCHANGES = "EXCHANGE(a, b) EXCHANGE(c, d) EXCHANGE(a, c) EXCHANGE(b, d) EXCHANGE(b, c)"
CHOICE = "which == 0 ? a : which == 1 ? b : which == 2 ? c : d"
INSERTION = """int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float m[4] = {x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]};
    for (int j = 1; j < 4; ++j)
        for (int at = j; at > 0 && m[at - 1] > m[at]; --at) {
            float larger = m[at - 1];
            m[at - 1] = m[at];
            m[at] = larger;
        }
    out[i] = m[k[i]];"""


def _case(n: int) -> Case:
    x, k = numbers(FOUR * n, seed=n), np.random.default_rng(n + 1).integers(0, FOUR, n).astype(np.int32)
    right = np.sort(x.reshape(-1, FOUR), axis=1)[np.arange(n), k]
    return Case(plural(n, "four"), (x, k, Out(right), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch03.ranks",
    title="the k-th smallest of four, in registers",
    language="cuda",
    name="ranks",
    cases=lambda: [_case(n) for n in (1, 3, 127, 128, 129, 500, 1021)],
    measured=lambda: _case(4096),
    thread_of=thread_1d,
    budgets=(
        Budget(
            "local requests",
            lambda profile: profile["local_requests"],
            0,
            "An array with an index that only the running thread knows lies in local memory in the PTX. Whether "
            "it can still be moved into registers is then up to the assembler.",
            "local_store_requests",
        ),
        Budget(
            "bytes of shared memory a block",
            lambda profile: profile.resources.shared_bytes,
            0,
            "Shared memory is for what threads hand to one another; these four values are one thread's.",
        ),
        Budget(
            "global load requests for 4,096 fours",
            lambda profile: profile["global_read_requests"],
            640,
            "128 warps load four values and one k each: 640 requests.",
        ),
    ),
    hints=(
        "Call them a, b, c and d: four variables need no index at all.",
        "Five exchanges sort four values: (a, b), (c, d), (a, c), (b, d), (b, c). Each puts the smaller one first, "
        "with fminf and fmaxf.",
        "At the end choose without an index: k[i] == 0 ? a : k[i] == 1 ? b : k[i] == 2 ? c : d.",
    ),
    solution="""
#define EXCHANGE(p, q) { float smaller = fminf(p, q); q = fmaxf(p, q); p = smaller; }
extern "C" __global__ void ranks(const float* x, const int* k, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[4 * i], b = x[4 * i + 1], c = x[4 * i + 2], d = x[4 * i + 3];
    EXCHANGE(a, b) EXCHANGE(c, d) EXCHANGE(a, c) EXCHANGE(b, d) EXCHANGE(b, c)
    int which = k[i];
    out[i] = which == 0 ? a : which == 1 ? b : which == 2 ? c : d;
}
""",
    why="Nothing here has an index that a thread computes, so every value is a register in the PTX already. The five "
    "exchanges are the same for all lanes, so no lane waits for another; chapter 08 is about that.",
    stretch="load the four with one float4 and watch the global load requests fall to 256.",
    mistakes=(
        Mistake(
            "the four are not sorted",
            "This stores the k-th as they come. Sort them first, or count for each how many are smaller.",
            ((EXCHANGES, ""),),
        ),
        Mistake(
            "counted from the largest",
            "k = 0 asks for the smallest: the order is turned round.",
            (("int which = k[i]", "int which = 3 - k[i]"),),
        ),
        Mistake(
            "always the smallest",
            "Every thread stores the smallest of its four. Which one is asked for stands in k[i].",
            ((CHOICE, "a"),),
        ),
        Mistake(
            "sorted, and the wrong one is chosen",
            "For each k it is always the same place of the sorted four, but not the k-th: k = 0 asks for the smallest, "
            "k = 3 for the largest. Mind a missing `break`, and = in place of ==.",
            (
                ("int which = k[i]", "int which = k[i] - 1"), ("int which = k[i]", "int which = k[i] + 1"),
                (CHOICE, "d"), ("which == 1", "which == 2"), ("which == 2", "which == 3"),
            ),
        ),
        Mistake(
            "not wholly sorted",
            "Each result is one of the right four, but not always the k-th. Four values take five exchanges: try yours "
            "by hand on 4, 3, 2, 1. And the k of thread i is k[i].",
            (
                (" EXCHANGE(b, c)", ""), (" EXCHANGE(b, d)", ""), (" EXCHANGE(a, c)", ""),
                ("EXCHANGE(a, b) EXCHANGE(c, d) EXCHANGE(a, c) EXCHANGE(b, d)", "EXCHANGE(a, b) EXCHANGE(b, c)"),
                ("k[i]", "k[threadIdx.x]"),
            ),
        ),
        Mistake(
            "equal values are left out",
            "Where two of the four are equal, no value has just k smaller ones, and nothing is written. Among equals "
            "let the first count as the smaller: < to one side, <= to the other.",
            (
                ((EXCHANGES, "int ra = (b < a) + (c < a) + (d < a), rb = (a < b) + (c < b) + (d < b),\n"
                  "        rc = (a < c) + (b < c) + (d < c), rd = (a < d) + (b < d) + (c < d);"),
                 (f"out[i] = {CHOICE};", "if (ra == which) out[i] = a;\n    if (rb == which) out[i] = b;\n"
                  "    if (rc == which) out[i] = c;\n    if (rd == which) out[i] = d;")),
            ),
        ),
        Mistake(
            "the wrong four",
            "Some results are none of the thread's own values. Thread i has x[4 * i] to x[4 * i + 3].",
            (
                (("[4 * i]", "[i]"), ("4 * i + 1", "i + n"), ("4 * i + 2", "i + 2 * n"), ("4 * i + 3", "i + 3 * n")),
                ("4 * i", "i"),
            ),
        ),
        Mistake(
            "an index that the compiler does not know",
            "The result is right, but some index is a variable when the kernel runs. So in the PTX the array has "
            "addresses and lies in local memory, and you depend on the assembler to undo that. Without an index "
            "nothing has to be undone.",
            (INSERTION, (f"out[i] = {CHOICE}", "float m[4] = {a, b, c, d}; out[i] = m[which]")),
        ),
    ),
)  # fmt: skip
