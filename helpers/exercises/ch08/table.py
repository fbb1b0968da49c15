"""Eight kinds of elements with two numbers each: a look into a table in place of a switch."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural, thread_1d
from helpers.checking.measures import total
from helpers.exercises.ch08.budgets import at_most_idle, at_most_instructions

BLOCK = 128
SCALE = (2.0, 3.0, 0.5, 1.5, 4.0, 0.25, 5.0, 6.0)
SHIFT = (1.0, -2.0, 4.0, -1.0, 3.0, 0.0, -3.0, 2.0)
PAIRS = list(enumerate(zip(SCALE, SHIFT, strict=True)))
LOOK = "out[i] = scale[kind[i]] * x[i] + shift[kind[i]];"
SWITCH = f"switch (kind[i]) {{ {' '.join(f'case {k}: v = {a}f * v + {b}f; break;' for k, (a, b) in PAIRS)} }}"
SELECTIONS = " ".join(f"a = k == {k} ? {a}f : a; b = k == {k} ? {b}f : b;" for k, (a, b) in PAIRS)


def _case(n: int) -> Case:
    kind = np.random.default_rng(n).integers(0, 8, n).astype(np.int32)
    x = numbers(n, seed=n)
    wanted = np.array(SCALE, np.float32)[kind] * x + np.array(SHIFT, np.float32)[kind]
    return Case(plural(n, "element"), (kind, x, Out(wanted), np.int32(n)), (cover(n, BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch08.table",
    title="a table for a switch, in CUDA C",
    language="cuda",
    name="table",
    cases=lambda: [_case(n) for n in (1, 2, 31, 64, 97, 128, 1021)],
    measured=lambda: _case(4096),
    budgets=(
        Budget(
            "loads from local memory",
            total("local_load_requests"),
            0,
            "An array that is indexed by a variable cannot live in registers.",
            "local_load_requests",
        ),
        at_most_idle(6),
        at_most_instructions("4,096 elements", 5_200, "Two loads from a table and one multiply-add are enough."),
    ),
    thread_of=thread_1d,
    sanitize=True,
    hints=(
        "All cases have the same shape: a number times v, plus a number. Only the numbers differ.",
        "Two tables of eight floats, indexed by the kind. Where do they have to be declared?",
        "Above the kernel: __device__ const float scale[8] = {2.0f, …}; in it: scale[k] * x[i] + shift[k].",
    ),
    solution="""
__device__ const float scale[8] = {2.0f, 3.0f, 0.5f, 1.5f, 4.0f, 0.25f, 5.0f, 6.0f};
__device__ const float shift[8] = {1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f};

extern "C" __global__
void table(const int* kind, const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = scale[kind[i]] * x[i] + shift[kind[i]];
}
""",
    why="What differs between the cases is data, so it belongs in memory and not in the program. Eight floats fill one "
    "sector: each look of a warp costs one request and one sector, whatever the kinds. Constant memory would be the "
    "wrong home: it serves one address at a time, and here the lanes ask for eight.",
    stretch="make the cases polynomials of degree 3. How large may the table grow before the switch is better?",
    equivalent=((("shift[8]", "shift[9]"), "the ninth is 0, and no kind asks for it"),),
    mistakes=(
        Mistake(
            "an index has gone astray",
            "The place of an element is not its kind: both tables have eight numbers, and kind[i] says which of them "
            "an element wants.",
            (("[kind[i]]", "[i]"), ("scale[kind[i]]", "scale[i]"), ("shift[kind[i]]", "shift[i]")),
        ),
        Mistake(
            "the scale is forgotten",
            "Every kind has two numbers: out = scale[kind] * x + shift[kind].",
            (("scale[kind[i]] * x", "x"),),
        ),
        Mistake(
            "scale and shift are swapped",
            "The scale is what x is multiplied by, the shift is added.",
            ((" = scale[kind[i]] * x[i] + shift[", " = shift[kind[i]] * x[i] + scale["),),
        ),
        Mistake(
            "the place is looked up, not the kind",
            "What an element wants is in kind[i]: that is the index of both tables.",
            (("[kind[i]]", "[i % 8]"),),
        ),
        Mistake(
            "the shift is forgotten",
            "Every kind has two numbers: out = scale[kind] * x + shift[kind].",
            ((" + shift[kind[i]]", ""),),
        ),
        Mistake(
            "some kinds are right, and others not",
            "The way is right, and the numbers of some kinds are not: compare them with the cases of the switch, signs "
            "too. A table of whole numbers has no 0.5.",
            (
                ("__device__ const float", "__device__ const int"), ("float scale", "int scale"), ("-", ""),
                (("-2.0f", "2.0f"),), (("-1.0f", "1.0f"),), (("-3.0f", "3.0f"),), ("0.5f", "0.f"), ("0.25f", "0.f"),
            ),
        ),
        Mistake(
            "the table lies in local memory",
            "Each thread builds a table of its own and then reads it from local memory. Declared outside of the "
            "kernel, `__device__ const float scale[8] = {…};`, there is one for all.",
            (
                (("__device__", "//"), ("int i =", f"const float scale[8] = {{{', '.join(map(str, SCALE))}}};\n"
                  f"    const float shift[8] = {{{', '.join(map(str, SHIFT))}}};\n    int i =")),
            ),
        ),
        Mistake(
            "still a jump for every kind",
            "Up to eight kinds meet in a warp, and their cases run one after another.",
            ((LOOK, f"{{ float v = x[i]; {SWITCH} out[i] = v; }}"),),
        ),
        Mistake(
            "eight selections instead of one look",
            "No lane is idle, but every lane goes through all kinds. A load finds the right one at once.",
            ((LOOK, f"{{ int k = kind[i]; float a = 0, b = 0; {SELECTIONS} out[i] = a * x[i] + b; }}"),),
        ),
    ),
)  # fmt: skip
