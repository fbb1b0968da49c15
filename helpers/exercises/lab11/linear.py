"""A linear layer on codes of eight bits: tensor cores multiply, and scales are applied to what comes out."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out
from helpers.exercises.lab11.budgets import INSTRUCTIONS, STORED, TILES_LOADED
from helpers.exercises.lab11.codes import DP4A

TILE, SLICE, THREADS = 32, 64, 128
SHAPES = ((32, 64, 32), (64, 64, 32), (32, 192, 96))


def _case(m: int, k: int, n: int, seed: int = 0) -> Case:
    dice = np.random.default_rng(seed or m + k + n)
    x, w = (dice.integers(-127, 128, shape, dtype=np.int8) for shape in ((m, k), (n, k)))
    x[:, 0], w[:, 0] = 127, -127  # one product that a signed byte must hold on to
    sx, sw = (dice.integers(1, 64, size).astype(np.float32) / 1024 for size in (m, n))
    expected = (x.astype(np.int64) @ w.T.astype(np.int64)) * sx[:, None].astype(np.float64) * sw
    sizes = tuple(map(np.int32, (m, k, n)))
    arguments = (x, w, sx, sw, Out(expected.astype(np.float32)), *sizes)
    return Case(f"{m} × {k} inputs, {n} outputs", arguments, (n // TILE, m // TILE), (THREADS,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    odd = [(TILE * int(dice.integers(1, 4)), SLICE * int(dice.integers(1, 4)), TILE * int(dice.integers(1, 4)))]
    whole = (TILE * int(dice.integers(2, 4)), SLICE * int(dice.integers(4, 6)), TILE * int(dice.integers(2, 4)))
    return [_case(*shape, int(dice.integers(1, 10**6))) for shape in (*odd, whole)]


EXERCISE = Exercise(
    key="lab11.linear",
    title="a linear layer on codes of eight bits, in CUDA C",
    language="cuda",
    name="linear",
    cases=lambda: [_case(*shape) for shape in SHAPES],
    measured=lambda: _case(64, 256, 96),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(TILES_LOADED, STORED, INSTRUCTIONS),
    hints=(
        "A row and a column of the result have one scale each, so the sum over k knows nothing of them. Where in your "
        "kernel are they applied, and how often?",
        "Tiles of 32 rows and 64 codes of either side in shared memory, which is one uint4 for each thread and side. "
        "Sums of int in fragments; these go to a tile of ints, and from there each lane takes its element, multiplies "
        "by two scales and stores.",
        "left[4][32][16]: thread t loads 16 codes of row t / 4, from first + t % 4 * 16 on, to left[t % 4][t / 4]. "
        "Fragment: load_matrix_sync(a, left[j][up], 16), and of w the same as col_major.",
    ),
    why="Products of two codes and their sums are whole numbers, which an int holds exactly: rounding happened when "
    "the codes were made, and happens once more at the end. The scales can wait until then because they do not depend "
    "on the index that is summed over; a scale for each 32 codes along k could not. A quarter of the bytes of float32 "
    "are moved, and tensor cores make twice as many products of int8 as of half. The weight is stored by outputs, and "
    "col_major reads it that way: nothing has to be transposed.",
    stretch="weights with a scale for each 64 codes along k: where do they have to be applied now?",
    equivalent=tuple(
        ((f"{name}[{size}]", f"{name}[{size + 1}]"), "more room than is used")
        for name, size in (("char left", 4), ("], right", 4), ("left[4]", 32), ("right[4]", 32), ("int out", 32))
    ),
    mistakes=(
        Mistake("scales in each other's places",
            "sx has a scale for each row of the result, and sw one for each column.",
            ((("sx[row]", "sx[column % m]"), ("* scale", "* sw[row % n]")),)),
        Mistake("one scale for all",
            "Every row of x has a scale of its own, and every row of w.",
            (("sx[row]", "sx[0]"), ("= sw[side + t % 32]", "= sw[0]"), ("sx[row]", "sx[top]"),
             ("= sw[side + t % 32]", "= sw[side]"))),
        Mistake("a scale is left out",
            "A result is multiplied by two scales: that of its row, and that of its column.",
            ((" * sx[row]", ""), ("* sx[row] * scale", "* sx[row]"), (" * sx[row] * scale", ""))),
        Mistake("codes without a sign",
            "The codes go from -127 to 127: a fragment of signed char reads them so, one of unsigned char does not.",
            ((("16, signed char, wmma::row_major", "16, unsigned char, wmma::row_major"),
              ("16, signed char, wmma::col_major", "16, unsigned char, wmma::col_major"),
              ("load_matrix_sync(a, left", "load_matrix_sync(a, (unsigned char*)left"),
              ("load_matrix_sync(b, right", "load_matrix_sync(b, (unsigned char*)right")),)),
        Mistake("the weight is taken as it would lie in a plain product",
            "w has a row for each output, so its tile holds columns of the product: the fragment is col_major.",
            (("signed char, wmma::col_major", "signed char, wmma::row_major"),)),
        Mistake("only the last slice counts",
            "The sum goes on from slice to slice: fill the fragment with 0 before the loop.",
            (("        for (int j", "        wmma::fill_fragment(sum, 0);\n        for (int j"),)),
        Mistake("a part of each slice",
            "A slice of 64 codes has four pieces of 16, and each warp multiplies all four.",
            (("j < 4", "j < 1"), ("j < 4", "j < 2"), ("first += 64", "first += 128"))),
        Mistake("four warps at one square",
            "The four warps of a block have a square of 16 × 16 each: two beside each other, two below.",
            (("up = t / 64 * 16", "up = 0"), ("over = t / 32 % 2 * 16", "over = 0"))),
        Mistake("multiplied on ordinary cores",
            "Right, but no tensor core had anything to do. One mma_sync makes 4,096 products, and __dp4a, all that "
            "an ordinary core knows, four for each lane.",
            (DP4A, """    int column = 32 * blockIdx.x + threadIdx.x % 32;
    for (int row = 32 * blockIdx.y + threadIdx.x / 32; row < 32 * blockIdx.y + 32; row += 4) {
        int sum = 0;
        for (int i = 0; i < k; ++i) sum += x[row * k + i] * w[column * k + i];
        y[row * n + column] = sum * sx[row] * sw[column];
    }""")),
        Mistake("fragments straight from global memory",
            "Right, but each warp loads its fragments for itself, and a row of 16 codes is half a sector. Let the "
            "block load tiles of 32 rows and 64 codes, which are two whole sectors a row.",
            ("""    __shared__ int out[32][36];
    int t = threadIdx.x, up = t / 64 * 16, over = t / 32 % 2 * 16;
    int top = 32 * blockIdx.y, side = 32 * blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int j = 0; j < k; j += 16) {
        wmma::load_matrix_sync(a, x + (top + up) * k + j, k);
        wmma::load_matrix_sync(b, w + (side + over) * k + j, k);
        wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(&out[up][over], sum, 36, wmma::mem_row_major);
    __syncthreads();
    for (int r = t / 32; r < 32; r += 4) {
        int row = top + r, column = side + t % 32;
        y[row * n + column] = out[r][t % 32] * sx[row] * sw[column];
    }""",)),
        Mistake("one code at a time",
            "Right, but a lane loads single codes, each with an address of its own. As a uint4 it loads 16 of them.",
            ((("        *(uint4*)left[t % 4][t / 4] = *(const uint4*)&x[(top + t / 4) * k + first + t % 4 * 16];\n"
               "        *(uint4*)right[t % 4][t / 4] = *(const uint4*)&w[(side + t / 4) * k + first + t % 4 * 16];\n",
               "        for (int e = t; e < 2048; e += 128) {\n"
               "            left[e % 64 / 16][e / 64][e % 16] = x[(top + e / 64) * k + first + e % 64];\n"
               "            right[e % 64 / 16][e / 64][e % 16] = w[(side + e / 64) * k + first + e % 64];\n"
               "        }\n"),),)),
    ),
)  # fmt: skip
