"""Loads of four floats at once, from global and from shared memory, in a product of square matrices."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, numbers

TILE = 32
ROOMS = (("[33][8]", "[32][8]"), ("[32][8]", "[33][8]"), ("[32][8]", "[32][9]"))


def _case(n: int) -> Case:
    a, b = numbers((n, n), seed=n), numbers((n, n), seed=n + 50)
    return Case(f"side {n}", (a, b, Out(a @ b), np.int32(n)), (n // TILE, n // TILE), (256,))


EXERCISE = Exercise(
    key="ch13.wide",
    title="four floats a load, in CUDA C",
    language="cuda",
    name="wide",
    cases=lambda: [_case(n) for n in (32, 64, 96)],
    measured=lambda: _case(64),
    tolerance=1e-4,
    sanitize=True,
    budgets=(
        Budget(
            "load requests to global memory, side 64",
            lambda profile: profile["global_read_requests"],
            128,
            "8 warps in 4 blocks load 2 tiles in each of 2 rounds, one float4 a lane: 8 · 4 · 2 · 2 = 128.",
            "global_load_requests",
        ),
        Budget(
            "shared loads, side 64",
            lambda profile: profile["shared_load_requests"],
            4_096,
            "8,192 warp multiply-adds; four of them need one float of a and one float4 of b: 2 loads for 4.",
            "shared_load_requests",
        ),
        Budget(
            "store requests, side 64",
            lambda profile: profile["global_write_requests"],
            128,
            "8 warps in 4 blocks store 4 results a lane: 128 requests, or 32 of float4s.",
            "global_store_requests",
        ),
    ),
    hints=(
        "Four neighbours in a row of a are one float4: reinterpret_cast<const float4*>(&a[…])[0].",
        "tile_a[y][x] and tile_b[y][x] are float4s already, so a thread fills each tile with one store.",
        "In the loop: float left = in_a[y * 32 + k]; float4 right = tile_b[k][x]; then .x, .y, .z and .w.",
    ),
    solution="""
extern "C" __global__ void wide(const float* a, const float* b, float* c, int n) {
    __shared__ float4 tile_a[32][8], tile_b[32][8];
    float* in_a = reinterpret_cast<float*>(tile_a);
    int t = threadIdx.x, x = t % 8, y = t / 8;
    int row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + 4 * x;
    float sum[4] = {};
    for (int start = 0; start < n; start += 32) {
        tile_a[y][x] = *reinterpret_cast<const float4*>(&a[row * n + start + 4 * x]);
        tile_b[y][x] = *reinterpret_cast<const float4*>(&b[(start + y) * n + column]);
        __syncthreads();
        for (int k = 0; k < 32; ++k) {
            float left = in_a[y * 32 + k];
            float4 right = tile_b[k][x];
            sum[0] += left * right.x;
            sum[1] += left * right.y;
            sum[2] += left * right.z;
            sum[3] += left * right.w;
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) c[row * n + column + j] = sum[j];
}
""",
    why="Each load of 16 bytes takes the place of four. The bytes are the same, but a quarter of the requests has to "
    "be issued, and in shared memory a float4 serves four multiply-adds with one wavefront for eight lanes.",
    stretch="store the four results as one float4, too. Which counter changes?",
    equivalent=(
        *((("tile_a[32][8], tile_b[32][8];", f"tile_a{a}, tile_b{b};"), "more room than is used") for a, b in ROOMS),
        (("float sum[4]", "float sum[5]"), "more room than is used"),
    ),
    mistakes=(
        Mistake(
            "x counts floats",
            "Thread x loads the float4 that begins at float 4 * x of the row.",
            (("start + 4 * x]", "start + x]"),),
        ),
        Mistake(
            "the step along the depth is missing",
            "Each round loads the next tile: of a further right, of b further down, by `start`.",
            (("n + start + 4 * x", "n + 4 * x"), ("(start + y) * n", "y * n")),
        ),
        Mistake(
            "the four results are mixed up",
            "Result j of a thread is in column 4 * x + j, so it belongs to .x, .y, .z and .w in that order.",
            (("right.y", "right.x"), ("right.w", "right.z"), ("right.z", "right.y")),
        ),
        Mistake(
            "the wrong row of a tile",
            "Result row y needs row y of a's tile and all rows k of b's tile.",
            (("in_a[y * 32 + k]", "in_a[k * 32 + y]"), ("tile_b[k][x]", "tile_b[y][x]")),
        ),
        Mistake(
            "a barrier is missing",
            "The first keeps everybody from reading half-full tiles, the second from filling tiles that are read.",
            (("        }\n        __syncthreads();", "        }"),
             ("column]);\n        __syncthreads();", "column]);")),
        ),
        Mistake(
            "global memory is read float by float",
            "Right, but the loads from global memory carry one float a lane. Load the four neighbours through a float4 "
            "pointer.",
            (
                (("tile_b[y][x] = *reinterpret_cast<const float4*>(&b[(start + y) * n + column]);",
                  "for (int j = 0; j < 4; ++j) reinterpret_cast<float*>(tile_b)[y * 32 + 4 * x + j] = "
                  "b[(start + y) * n + column + j];"),),
                (("tile_a[y][x] = *reinterpret_cast<const float4*>(&a[row * n + start + 4 * x]);",
                  "for (int j = 0; j < 4; ++j) in_a[y * 32 + 4 * x + j] = a[row * n + start + 4 * x + j];"),),
            ),
        ),
        Mistake(
            "shared memory is read float by float",
            "Right, but the four neighbours of b's tile are read one by one. tile_b[k][x] is all four in one load.",
            (("float4 right = tile_b[k][x];",
              "volatile float* four = reinterpret_cast<float*>(&tile_b[k][x]);\n"
              "            float4 right = make_float4(four[0], four[1], four[2], four[3]);"),),
        ),
    ),
)  # fmt: skip
