"""A product in which each thread has a patch of 4 × 4 results in registers."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, numbers
from helpers.exercises.lab09.budgets import IN_REGISTERS, LOADED, READS, STORES

TILE, SIDE = 64, 16
SHAPES = ((1, 1, 1), (5, 70, 3), (64, 16, 64), (65, 17, 70), (100, 33, 20))
PATCH = "for (int i = 0; i < 4; ++i)\n        for (int l = 0; l < 4; ++l) {"


def _case(m: int, k: int, n: int, seed: int = 0) -> Case:
    a, b = numbers((m, k), seed=seed or m + k), numbers((k, n), seed=(seed or k + n) + 1)
    sizes = tuple(map(np.int32, (m, k, n)))
    return Case(
        f"({m} × {k}) by ({k} × {n})", (a, b, Out(a @ b), *sizes), (cover(n, TILE), cover(m, TILE)), (SIDE, SIDE)
    )


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(2, 60)), 9), tuple(map(int, dice.integers(17, 130, 3)))]
    whole = (TILE * int(dice.integers(1, 4)), SIDE * int(dice.integers(2, 6)), TILE * int(dice.integers(2, 4)))
    return [_case(*shape, int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


EXERCISE = Exercise(
    key="lab09.patch",
    title="a patch of 4 × 4 results a thread, in CUDA C",
    language="cuda",
    name="product",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(128, 64, 128),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    tolerance=1e-4,
    budgets=(LOADED, READS, STORES, IN_REGISTERS),
    hints=(
        "One step j of the inner dimension: a thread needs some elements of column j of left, and some of row j of "
        "right. How many elements give sixteen products?",
        "Read four elements of left and four of right into small arrays, then let two loops add the sixteen products "
        "to sum[4][4]. Loops from 0 to 4 are unrolled, so that all of it stands in registers.",
        "u[i] = left[y + 16 * i][j], v[l] = right[j][x + 16 * l], sum[i][l] += u[i] * v[l]. In the end sum[i][l] is "
        "the result in row y + 16 * i and column x + 16 * l of the block's tile.",
    ),
    why="With one result a thread every product asks shared memory twice, and shared memory serves one wavefront a "
    "clock on an SM, while its cores make four warps' multiply-adds. A column of results asks little more than once. "
    "A patch of r × c asks r + c times for r · c products, so a square is best: 8 for 16 here, and 16 for 64 with a "
    "patch of 8 × 8. Results that are 16 apart let neighbouring lanes read, and store, neighbouring words; four "
    "neighbours a thread would be right too, at the price of conflicts, unless each is read as one float4.",
    stretch="a patch of 8 × 8 with blocks of 128 × 128 results. How many registers does it take, and what becomes of "
    "the occupancy?",
    equivalent=(
        (("first < k;", "first <= k;"), "a slice behind the last has zeros only"),
        *(((f"{v} < 4; ++{v}){then}", f"{v} {to}; ++{v}){then}"),
           "an index behind the end of an array is undefined, and the compiler leaves it out")
          for to in ("<= 4", "< 5")
          for v, then in (("i", " u"), ("l", " v"), ("i", "\n                for"), ("i", "\n        for"))),
        *(((size, size.replace("4", "5", 1)), "more room than is used") for size in ("u[4]", "v[4]", "sum[4][4] =")),
        (("sum[4][4] =", "sum[4][5] ="), "more room than is used"),
    ),
    mistakes=(
        Mistake("each slice begins anew",
            "Only the last slice of the inner dimension counts. The sums go on from slice to slice: declare them "
            "before the loop.",
            (("        load_tiles(", "        for (auto& row : sum) for (float& each : row) each = 0;\n"
              "        load_tiles("),)),
        Mistake("one barrier is missing",
            "A slice needs two barriers. Behind the first the tiles are complete; behind the second nobody needs them "
            "any more, so that the next slice may be loaded.",
            (("        __syncthreads();\n        for (int j", "        for (int j"),
             ("        }\n        __syncthreads();", "        }"))),
        Mistake("the last slice is dropped",
            "The inner dimension need not be a multiple of 16. `load_tiles` puts zeros where a matrix has ended, so "
            "go on until first reaches k.",
            (("first < k", "first + 16 <= k"), ("first < k", "first < k - 1"))),
        Mistake("results in each other's places",
            "The sums are right, and stand in places of others. What was read from row y + 16 * i of left belongs "
            "into that row of the block's tile, and what was read from column x + 16 * l of right into that column.",
            ((("y + 16 * i, col", "y + 16 * l, col"), ("x + 16 * l;", "x + 16 * i;")),
             (("y + 16 * i, col", "4 * y + i, col"), ("x + 16 * l;", "4 * x + l;")),
             (("y + 16 * i, col", "x + 16 * i, col"), ("+ x + 16 * l;", "+ y + 16 * l;")))),
        Mistake("only the first of the patch",
            "A block of 16 × 16 threads has 64 × 64 results, so a thread has sixteen to store.",
            ((PATCH, PATCH.replace("< 4", "< 1")), (PATCH, PATCH.replace("< 4", "< 3")))),
        Mistake("one result after the other",
            "Right, but every product asks shared memory for both of its factors. Exchange the loops: for each j read "
            "four elements of either side into registers, and let them make sixteen products.",
            ("""    int x = threadIdx.x, y = threadIdx.y;
    float sum[4][4] = {};
    for (int first = 0; first < k; first += 16) {
        load_tiles(a, b, m, k, n, first);
        __syncthreads();
        for (int i = 0; i < 4; ++i)
            for (int l = 0; l < 4; ++l)
                #pragma unroll 1
                for (int j = 0; j < 16; ++j) sum[i][l] += left[y + 16 * i][j] * right[j][x + 16 * l];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int l = 0; l < 4; ++l) {
            int row = 64 * blockIdx.y + y + 16 * i, column = 64 * blockIdx.x + x + 16 * l;
            if (row < m && column < n) c[row * n + column] = sum[i][l];
        }""",)),
        Mistake("a column of results instead of a patch",
            "Right, but a column of sixteen results reads seventeen elements for sixteen products. A square patch "
            "reads eight: four of either side.",
            ("""    int t = 16 * threadIdx.y + threadIdx.x, over = t % 64, up = t / 64 * 16;
    float sum[16] = {};
    for (int first = 0; first < k; first += 16) {
        load_tiles(a, b, m, k, n, first);
        __syncthreads();
        for (int j = 0; j < 16; ++j) {
            float v = right[j][over];
            for (int i = 0; i < 16; ++i) sum[i] += left[up + i][j] * v;
        }
        __syncthreads();
    }
    for (int i = 0; i < 16; ++i) {
        int row = 64 * blockIdx.y + up + i, column = 64 * blockIdx.x + over;
        if (row < m && column < n) c[row * n + column] = sum[i];
    }""",)),
        Mistake("neighbours in one thread",
            "Right, but four neighbours of a row belong to one thread, so the words of neighbouring lanes are four "
            "apart. They meet in banks, and where they store, each sector is asked for four times. Let a thread have "
            "columns that are 16 apart, or move its four neighbours as one float4.",
            (("x + 16 * l", "4 * x + l"), (("x + 16 * l", "4 * x + l"), ("y + 16 * i", "4 * y + i")))),
        Mistake("the patch is in local memory",
            "Right, but the compiler put an array into local memory, because some index into it is not known when it "
            "compiles. Keep the loops over the patch from 0 to 4, without a #pragma that forbids to unroll them.",
            (("            for (int i = 0; i < 4; ++i)\n                for (int l", "            #pragma unroll 1\n"
              "            for (int i = 0; i < 4; ++i)\n                for (int l"),)),
    ),
)  # fmt: skip
