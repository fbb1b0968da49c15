"""Four results of one column a thread, from tiles in shared memory: a one-dimensional register block."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers

TILE = 32
SUMS = "for (int i = 0; i {}; ++i) sum"
STORES = "for (int i = 0; i < {}; ++i)\n        if (first"
ROOMS = (
    ("[33][32]", "[32][32]"), ("[32][33]", "[32][32]"), ("[32][32]", "[33][32]"), ("[32][32]", "[32][33]"),
)  # fmt: skip
SHAPES = ((1, 1, 1), (32, 32, 32), (33, 40, 17), (13, 70, 37), (70, 9, 64), (64, 96, 33))


def _case(m: int, n: int, depth: int) -> Case:
    a, b = numbers((m, depth), seed=m), numbers((depth, n), seed=n + 50)
    sizes = (np.int32(m), np.int32(n), np.int32(depth))
    name = f"({m} × {depth}) by ({depth} × {n})"
    return Case(name, (a, b, Out(a @ b), *sizes), (cover(n, TILE), cover(m, TILE)), (32, 8))


EXERCISE = Exercise(
    key="ch13.strip",
    title="four results a thread, in CUDA C",
    language="cuda",
    name="strip",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(64, 64, 64),
    tolerance=1e-4,
    sanitize=True,
    budgets=(
        Budget(
            "shared loads for 64 × 64 × 64 multiply-adds",
            lambda profile: profile["shared_load_requests"],
            10_240,
            "8,192 warp multiply-adds, and 5 loads for 4 of them: one of b, which all four share, and four of a.",
            "shared_load_requests",
        ),
        Budget(
            "sectors loaded from global memory",
            lambda profile: profile["global_read_sectors"],
            2_100,
            "4 blocks load 2 pairs of tiles of 1,024 floats: 4 · 2 · 2 · 128 = 2,048 sectors.",
        ),
        Budget(
            "store requests for 64 × 64 results",
            lambda profile: profile["global_write_requests"],
            128,
            "4,096 results, 32 to a request: each is stored once, by the thread that computed it.",
            "global_store_requests",
        ),
    ),
    hints=(
        "Which element does tile_b give for column x at step k? How many of the four results need it?",
        "float right = tile_b[k][x]; then the four rows y, y + 8, y + 16 and y + 24 of tile_a at k.",
        "for (int i = 0; i < 4; ++i) sum[i] += tile_a[y + 8 * i][k] * right; and store row first + y + 8 * i.",
    ),
    solution="""
extern "C" __global__ void strip(const float* a, const float* b, float* c, int m, int n, int depth) {
    __shared__ float tile_a[32][32], tile_b[32][32];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, first = blockIdx.y * 32;
    float sum[4] = {};
    for (int start = 0; start < depth; start += 32) {
        for (int i = y; i < 32; i += 8) {
            tile_a[i][x] = first + i < m && start + x < depth ? a[(first + i) * depth + start + x] : 0.0f;
            tile_b[i][x] = start + i < depth && column < n ? b[(start + i) * n + column] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < 32; ++k) {
            float right = tile_b[k][x];
            for (int i = 0; i < 4; ++i) sum[i] += tile_a[y + 8 * i][k] * right;
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        if (first + y + 8 * i < m && column < n) c[(first + y + 8 * i) * n + column] = sum[i];
}
""",
    why="One element of b serves four multiply-adds, so 5 loads do for 4 of them, where a result a thread needs 8. The "
    "other three rows cost registers only.",
    stretch="let each thread compute 4 × 4 results, with 8 × 8 threads. How many shared loads are left?",
    equivalent=(
        *(((SUMS.format("< 4"), SUMS.format(limit)), "nobody stores the fifth sum") for limit in ("<= 4", "< 5")),
        *((("tile_a[32][32], tile_b[32][32];", f"tile_a{a}, tile_b{b};"), "more room than is used") for a, b in ROOMS),
        (("float sum[4]", "float sum[5]"), "more room than is used"),
        ((STORES.format(4), STORES.format(5)), "there is no fifth sum, and the compiler leaves its store out"),
    ),
    mistakes=(
        Mistake(
            "four neighbours, stored eight apart",
            "Rows y, y + 8, y + 16 and y + 24 are stored, but other rows of tile_a were summed.",
            (("tile_a[y + 8 * i][k]", "tile_a[4 * y + i][k]"), ("tile_a[y + 8 * i][k]", "tile_a[y + i][k]")),
        ),
        Mistake(
            "the same row four times",
            "All four sums read row y of tile_a. Each result has a row of its own: y + 8 * i.",
            (("tile_a[y + 8 * i][k]", "tile_a[y][k]"),),
        ),
        Mistake(
            "one result only",
            "A block has 256 threads for 32 × 32 results: each of them has to compute four, and to store all four.",
            (("for (int i = 0; i < 4; ++i)\n", "for (int i = 0; i < 1; ++i)\n"),),
        ),
        Mistake(
            "no guard at the store",
            "Rows from m on and columns from n on do not exist: guard each of the four stores.",
            (("if (first + y + 8 * i < m && column < n) ", ""), (" && column < n) c", ") c")),
        ),
        Mistake(
            "only row y is guarded",
            "Each of the four results has a row of its own: the guard has to ask about that row, first + y + 8 * i.",
            (("if (first + y + 8 * i < m", "if (first + y < m"),),
        ),
        Mistake(
            "only the last tile counts",
            "The sums begin again in each round. Set them to 0 once, before the loop over tiles.",
            (("        for (int k = 0; k < 32; ++k) {",
              "        for (int i = 0; i < 4; ++i) sum[i] = 0;\n        for (int k = 0; k < 32; ++k) {"),),
        ),
        Mistake(
            "part of the tile is left out",
            "A tile is 32 deep, so k goes from 0 to 31, one by one.",
            (("k < 32", "k < 31"), ("k < 32", "k < 8"), ("int k = 0", "int k = 1")),
        ),
        Mistake(
            "b is read again for each result",
            "Right, with 8 loads for 4 multiply-adds: all four results need the same element of b, so read it once.",
            ((("            float right = tile_b[k][x];\n", ""),
              ("sum[i] += tile_a[y + 8 * i][k] * right",
               "sum[i] += tile_a[y + 8 * i][k] * ((volatile float*)tile_b)[k * 32 + x]")),),
        ),
    ),
)  # fmt: skip
