"""Half matrices of any shape on tensor cores: zeros fill up the tiles, and float32 takes the sums."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, cover, fractions
from helpers.exercises.lab09.budgets import INSTRUCTIONS, LOADED, ORDINARY, STORES

TILE, THREADS = 32, 128
SHAPES = ((1, 1, 1), (16, 16, 16), (13, 37, 5), (32, 64, 32), (50, 70, 35))
WITHIN_A, WITHIN_B = "top + r < m && first + l < k", "first + r < k && side + l < n"


def _case(m: int, k: int, n: int, seed: int = 0) -> Case:
    a = np.abs(fractions((m, k), seed or m + k)).astype(np.float16)  # sums that half could not hold to the unit
    b = fractions((k, n), (seed or k + n) + 1).astype(np.float16)
    b[:, ::2] = np.abs(b[:, ::2])
    sizes = tuple(map(np.int32, (m, k, n)))
    expected = a.astype(np.float32) @ b.astype(np.float32)
    return Case(
        f"({m} × {k}) by ({k} × {n})", (a, b, Out(expected), *sizes), (cover(n, TILE), cover(m, TILE)), (THREADS,)
    )


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(1, int(dice.integers(200, 300)), 9), tuple(map(int, dice.integers(17, 90, 3)))]
    whole = (TILE * int(dice.integers(2, 4)), 16 * int(dice.integers(6, 10)), TILE * int(dice.integers(2, 4)))
    return [_case(*shape, int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


EXERCISE = Exercise(
    key="lab09.tensor",
    title="half matrices of any shape on tensor cores, in CUDA C",
    language="cuda",
    name="product",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(64, 96, 64),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    tolerance=1e-4,
    budgets=(LOADED, STORES, ORDINARY, INSTRUCTIONS),
    hints=(
        "load_matrix_sync and store_matrix_sync move whole squares of 16 × 16, so at the edges they must not touch "
        "global memory. What do you know that has room for what does not exist?",
        "Tiles of 32 × 32 halves of either side in shared memory, zeros outside. Each of the four warps has one square "
        "of 16 × 16 results, and makes two products of fragments for each pair of tiles. In the end the squares go "
        "to a tile of floats, from which lanes store what lies inside.",
        "half left[32][40], right[32][40]; float out[32][36]. For j = 0, 16: load_matrix_sync(fa, &left[up][j], 40), "
        "load_matrix_sync(fb, &right[j][over], 40), mma_sync(sum, fa, fb, sum).",
    ),
    why="A tensor core knows squares of 16 × 16 × 16 and nothing else, so everything else is done around it: zeros "
    "fill up what does not exist, because they add nothing to a sum, and the way out leads through shared memory, "
    "where a guard can be. A product of two halves has up to 22 bits, and the sum of many has more, so float32 takes "
    "them. One mma_sync stands for 128 multiply-adds of a warp. Most of what is executed here is loading: real "
    "kernels give each warp 64 × 64 results and more, and load by wider or asynchronous copies.",
    stretch="let each warp have 2 × 2 fragments of results, in blocks of 64 × 64. How far do instructions fall?",
    equivalent=(
        (("first < k;", "first <= k;"), "a tile behind the last has zeros only"),
        (("float out[32][", "float out[33]["), "more room than is used"),
        (("j < 32; j", "j < 31; j"), "from 16 the next step is 32 in either case"),
    ),
    mistakes=(
        Mistake("the sum is a half",
            "The products are summed up in half, which has 11 bits: from 2,048 on it knows even numbers only. The "
            "accumulator is a fragment of float, and so is what you store.",
            ((("16, 16, 16, float> sum", "16, 16, 16, half> sum"), ("sum, 0.0f)", "sum, half(0))"),
              ("sum, 36", "sum, 40"), ("__shared__ float out", "__shared__ half out"),
              ("out[32][36]", "out[32][40]")),)),
        Mistake("fragments begin at what was there",
            "A fragment holds anything at first: fill_fragment(sum, 0.0f) before the loop.",
            (("        for (int j", "        wmma::fill_fragment(sum, 0.0f);\n        for (int j"),)),
        Mistake("a distance between rows that is another",
            "The last argument of load_matrix_sync says how many elements lie from one row of the tile to the next, "
            "with the padding: 40 for half left[32][40].",
            (("[j], 40)", "[j], 32)"), ("[over], 40)", "[over], 32)"))),
        Mistake("half of each tile",
            "A tile of 32 halves has two pieces of 16: each warp makes two products of fragments for each pair of "
            "tiles, j = 0 and j = 16.",
            (("j < 32; j += 16", "j < 16; j += 16"),)),
        Mistake("four warps at one square",
            "The four warps of a block have a square of 16 × 16 each: two beside each other, two below.",
            (("up = t / 64 * 16", "up = 0"), ("over = t / 32 % 2 * 16", "over = 0"),
             ("up = t / 64 * 16, over = t / 32 % 2 * 16", "up = 0, over = 0"))),
        Mistake("a fragment the other way round",
            "Both tiles are stored row by row, so both fragments are row_major.",
            (("16, half, wmma::row_major> fb", "16, half, wmma::col_major> fb"),
             ("16, half, wmma::row_major> fa", "16, half, wmma::col_major> fa"))),
        Mistake("the last tile is dropped",
            "The inner dimension need not be a multiple of a tile: round up, and let zeros stand for what is outside.",
            (("first < k", "first + 32 <= k"), ("first < k", "first < k / 16 * 16"))),
        Mistake("multiplied on ordinary cores",
            "Right, but no tensor core had anything to do: every multiply-add is an instruction of its own for each "
            "warp. Load fragments, and let mma_sync multiply them.",
            ("""    __shared__ half left[32][40], right[32][40];
    int t = threadIdx.x, top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    float sum[8] = {};
    for (int first = 0; first < k; first += 32) {
        for (int r = t / 32, l = t % 32; r < 32; r += 4) {
            left[r][l] = top + r < m && first + l < k ? a[(top + r) * k + first + l] : half(0.0f);
            right[r][l] = first + r < k && side + l < n ? b[(first + r) * n + side + l] : half(0.0f);
        }
        __syncthreads();
        for (int j = 0; j < 32; ++j)
            for (int i = 0; i < 8; ++i) sum[i] += float(left[t / 32 + 4 * i][j]) * float(right[j][t % 32]);
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i) {
        int row = top + t / 32 + 4 * i, column = side + t % 32;
        if (row < m && column < n) c[row * n + column] = sum[i];
    }""",)),
        Mistake("every warp loads for itself",
            "Right, but each tile is fetched once for each warp that needs it. Tiles of 32 × 32 that the whole block "
            "loads are fetched once.",
            ("""    __shared__ half left[4][16][24], right[4][16][24];
    __shared__ float out[4][16][20];
    int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    int top = 32 * blockIdx.y + w / 2 * 16, side = 32 * blockIdx.x + w % 2 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int first = 0; first < k; first += 16) {
        for (int e = lane; e < 256; e += 32) {
            int r = e / 16, l = e % 16;
            left[w][r][l] = top + r < m && first + l < k ? a[(top + r) * k + first + l] : half(0.0f);
            right[w][r][l] = first + r < k && side + l < n ? b[(first + r) * n + side + l] : half(0.0f);
        }
        __syncwarp();
        wmma::load_matrix_sync(fa, &left[w][0][0], 24);
        wmma::load_matrix_sync(fb, &right[w][0][0], 24);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(&out[w][0][0], sum, 20, wmma::mem_row_major);
    __syncwarp();
    for (int e = lane; e < 256; e += 32) {
        int r = e / 16, l = e % 16;
        if (top + r < m && side + l < n) c[(top + r) * n + side + l] = out[w][r][l];
    }""",)),
    ),
)  # fmt: skip
