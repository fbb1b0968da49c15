"""Four elements a thread: all loads are asked for before the first value is used."""

from __future__ import annotations

from math import ceil

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.checking.measures import total
from vgpu.base.errors import Unsupported
from vgpu.hardware import gpus
from vgpu.tools.sass import loads_in_flight

BLOCK, EACH = 128, 4
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;\n"


def _case(n: int) -> Case:
    x, y = numbers(n, seed=n), numbers(n, seed=n + 1)
    arguments = (x, y, Out(np.float32(3) * x + y), np.int32(n))
    return Case(plural(n, "element"), arguments, (cover(n, EACH * BLOCK),), (BLOCK,))


def _waits(seen) -> float:
    """How often a warp waits for memory: in machine code, where the assembler may have moved loads ahead of stores."""
    chain, machine_code = seen
    try:
        together = loads_in_flight(machine_code(gpus.find("A100")))
    except Unsupported:  # no disassembler here: PTX alone has to do
        return chain.waits
    return min(chain.waits, ceil(chain.loads / max(1, together)))


EXERCISE = Exercise(
    key="ch09.early",
    title="four elements a thread, loaded together, in CUDA C",
    language="cuda",
    name="four",
    cases=lambda: [_case(n) for n in (1, 3, 127, 128, 129, 500, 512, 1021)],
    measured=lambda: _case(2 * EACH * BLOCK),
    budgets=(
        Budget(
            "times that a warp waits for memory",
            _waits,
            1,
            "Load all eight values before you use the first.",
            of="machine code",
        ),
        Budget(
            "sectors loaded for 2 × 1,024 floats",
            total("global_read_sectors"),
            260,
            "32 lanes that read 32 neighbours need 4 sectors.",
        ),
    ),
    hints=(
        "Two loops: one loads, one computes and stores.",
        "float v[4], w[4]; with #pragma unroll both loops' indices are known, and the arrays are registers.",
        "The first loop needs no if: min(i + k * all, n - 1) is an element that exists. The second stores where "
        "i + k * all < n.",
    ),
    solution="""
extern "C" __global__
void four(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v[4], w[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        int at = min(i + k * all, n - 1);
        v[k] = x[at];
        w[k] = y[at];
    }
    #pragma unroll
    for (int k = 0; k < 4; ++k)
        if (i + k * all < n) out[i + k * all] = 3 * v[k] + w[k];
}
""",
    why="A warp stands still at the first value that is not there, and loads before it are under way together: eight "
    "requests for one wait. The clamped index costs a few loads of the last element at the end of the array. A shorter "
    "way is __restrict__ on x, y and out in the loop you started with. It promises that no store changes what is "
    "loaded, so the compiler unrolls the loop and moves the loads ahead of the stores itself.",
    stretch="eight elements a thread: how do registers and occupancy change, and does widgets.scheduler gain?",
    equivalent=(
        (("v[4]", "v[5]"), "nobody asks for the fifth"),
        (("w[4]", "w[5]"), "nobody asks for the fifth"),
        (("k < 4; ++k) {", "k <= 4; ++k) {"), "what is stored beyond registers, the compiler leaves out"),
        (("k < 4; ++k) {", "k < 5; ++k) {"), "what is stored beyond registers, the compiler leaves out"),
        (("k < 4; ++k)\n", "k <= 4; ++k)\n"), "no thread has a fifth element"),
        (("k < 4; ++k)\n", "k < 5; ++k)\n"), "no thread has a fifth element"),
    ),
    mistakes=(
        Mistake(
            "no guard",
            "Each of the four elements may lie beyond the end: each needs a guard of its own.",
            (
                ("if (i + k * all < n) ", ""), ("if (i + k * all < n)", "if (i + k * all <= n)"),
                ("min(i + k * all, n - 1)", "min(i + k * all, n)"),
            ),
        ),
        Mistake(
            "the factor belongs to x",
            "It is 3 · x + y: the 3 stands with y here.",
            (("3 * v[k] + w[k]", "v[k] + 3 * w[k]"),),
        ),
        Mistake(
            "the factor is missing",
            "It is 3 · x + y, and the 3 is not there: it stands with x.",
            (("3 * v[k]", "v[k]"),),
        ),
        Mistake(
            "the last threads give up",
            "A thread whose four elements are not all there writes none of them. Those that exist are its work.",
            (("    float v[4]", "    if (i + 3 * all >= n) return;\n    float v[4]"),),
        ),
        Mistake(
            "only the first of four",
            "A thread has four elements, each a whole grid of threads after the one before.",
            (("k < 4", "k < 1"),),
        ),
        Mistake(
            "steps of a block",
            "The threads of a grid are gridDim.x * blockDim.x: after blockDim.x the next block's elements begin.",
            (("gridDim.x * blockDim.x;", "blockDim.x;"),),
        ),
        Mistake(
            "neighbours in a thread instead of neighbours in a warp",
            "A thread with four elements side by side leaves its neighbours four apart: chapter 04. Let the four be a "
            "whole grid of threads apart.",
            (("i + k * all", "4 * i + k"),),
        ),
        Mistake(
            "a value is used before the next is asked for",
            "In the machine code a store stands between two loads. The compiler must keep that order, since out might "
            "overlap x or y. Either load all eight values before the first store, or promise with __restrict__ on x, y "
            "and out that they don't overlap.",
            (
                f"{INDEX}    for (int k = i; k < n; k += all) out[k] = 3 * x[k] + y[k];",
                f"{INDEX}    for (int k = 0; k < 4; ++k) if (i + k * all < n) out[i + k * all] = "
                "3 * x[i + k * all] + y[i + k * all];",
            ),
        ),
    ),
)  # fmt: skip
