"""One fragment of the result a warp, multiplied by tensor cores, with a guard for warps that have no tile."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers

SHAPES = ((16, 16, 16), (16, 64, 16), (32, 48, 32), (48, 80, 64), (64, 64, 16), (16, 112, 48))


def _case(m: int, n: int, depth: int) -> Case:
    a = numbers((m, depth), seed=m).astype(np.float16)
    b = numbers((depth, n), seed=n + 50).astype(np.float16)
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    sizes = (np.int32(m), np.int32(n), np.int32(depth))
    name = f"({m} × {depth}) by ({depth} × {n})"
    return Case(name, (a, b, Out(wanted), *sizes), (cover(n, 64), m // 16), (128,))


EXERCISE = Exercise(
    key="ch13.tensor",
    title="a tile a warp on tensor cores, in CUDA C",
    language="cuda",
    name="tensor",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(32, 80, 64),
    tolerance=1e-3,
    budgets=(
        Budget(
            "FLOP of tensor cores for (32 × 64) by (64 × 80)",
            lambda profile: abs(profile["flops_tensor_fp16"] - 2 * 32 * 80 * 64),
            0,
            "Each of the 2 · 5 tiles takes 4 calls of mma_sync, 8,192 FLOP each. Warps without a tile make none.",
        ),
    ),
    hints=(
        "A step loads a 16 × 16 piece of a, at row `row` and column k, and one of b, at row k and column `column`.",
        "The third argument of load_matrix_sync is the length of a row in memory: depth for a, n for b.",
        "if (column >= n) return; before the loop. All lanes of a warp leave together, so nobody waits for them.",
    ),
    solution="""
#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void tensor(const half* a, const half* b, float* c, int m, int n, int depth) {
    int row = 16 * blockIdx.y, column = 16 * (4 * blockIdx.x + threadIdx.x / 32);
    if (column >= n) return;
    fragment<matrix_a, 16, 16, 16, half, row_major> left;
    fragment<matrix_b, 16, 16, 16, half, row_major> right;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (int k = 0; k < depth; k += 16) {
        load_matrix_sync(left, a + row * depth + k, depth);
        load_matrix_sync(right, b + k * n + column, n);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}
""",
    why="A warp's tile begins at `column`, the same for all its lanes, so the guard never splits a warp. That matters: "
    "all 32 lanes have to make the calls of WMMA together. The shapes are multiples of 16 because a fragment cannot "
    "be cut; libraries pad what is not.",
    stretch="give each warp 2 × 2 tiles. How many loads of fragments does a multiplication need then?",
    mistakes=(
        Mistake(
            "no guard for the last warps",
            "With 5 tile columns the second block has one tile and four warps. Those whose column is n or more have to "
            "return before they load.",
            (("    if (column >= n) return;\n", ""), ("column >= n", "column > n")),
        ),
        Mistake(
            "the depth is walked in other steps",
            "A fragment covers 16 of the depth, so k goes on by 16.",
            (("k += 16", "k += 32"),),
        ),
        Mistake(
            "only one step",
            "One call of mma_sync covers 16 of the depth. Go on until the depth has ended.",
            (("for (int k = 0; k < depth; k += 16)", "for (int k = 0; k < 16; k += 16)"),),
        ),
        Mistake(
            "a row of memory has another length",
            "The last argument is the length of a row in memory: a row of a has `depth` elements, one of b has `n`.",
            (("+ k, depth);", "+ k, n);"), ("+ column, n);", "+ column, depth);"), ("+ k, depth);", "+ k, 16);"),
             ("+ column, n);", "+ column, 16);")),
        ),
        Mistake(
            "a piece from the wrong place",
            "The piece of a begins at row `row`, column k; that of b at row k, column `column`.",
            (("a + row * depth + k", "a + row * depth"), ("b + k * n + column", "b + column"),
             ("b + k * n + column", "b + k * n"), ("a + row * depth + k", "a + k * depth + row"),
             ("a + row * depth + k", "a + row * n + k")),
        ),
        Mistake(
            "b is read as if it were turned",
            "b is stored by rows, as a is, so its fragment is row_major, too.",
            (("matrix_b, 16, 16, 16, half, row_major", "matrix_b, 16, 16, 16, half, col_major"),),
        ),
        Mistake(
            "only the last product counts",
            "The fourth argument is what the product is added to: sum, which began as zeros before the loop.",
            (("    for (int k = 0; k < depth; k += 16) {", "    for (int k = 0; k < depth; k += 16) {\n"
              "        fill_fragment(sum, 0.0f);"),),
        ),
        Mistake(
            "the sums do not begin at zero",
            "A fragment holds anything at first: fill_fragment(sum, 0.0f).",
            (("    fill_fragment(sum, 0.0f);\n", "    fill_fragment(sum, 1.0f);\n"),),
        ),
    ),
)  # fmt: skip
