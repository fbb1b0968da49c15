"""Exercises on shared memory: turn, slide and multiply through a tile, without conflicts and for every shape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Budget, Exercise, Mistake
from helpers.checking.measures import sectors_per_request
from helpers.exercises import ch05_cases as cases
from helpers.exercises.ch05_cases import (
    ADDED,
    DIVERGENT,
    LEFT_EARLY,
    NO_BARRIER,
    PRODUCTS,
    REACH,
    SHAPES,
    SHARED_LOADS,
    SHARED_STORES,
    SIZES,
    TOO_SMALL,
    TWICE,
    UNFILLED,
    WHOLE,
)

EXERCISES = (
    Exercise(
        key="ch05.transpose",
        title="transpose through a tile, in Numba",
        language="numba",
        name="transpose",
        cases=lambda: [cases.transpose_case(*shape) for shape in SHAPES],
        measured=lambda: cases.transpose_case(96, 160),
        sanitize=True,
        budgets=(
            Budget(
                "sectors per load request",
                sectors_per_request("read"),
                4.2,
                "The lanes of a warp should read neighbours in a row of x.",
            ),
            Budget(
                "sectors per store request",
                sectors_per_request("write"),
                4.2,
                "The lanes of a warp should write neighbours in a row of out.",
                "global_store_sectors",
            ),
            SHARED_LOADS,
            SHARED_STORES,
        ),
        mistakes=(
            TOO_SMALL,
            DIVERGENT,
            TWICE,
            NO_BARRIER,
            Mistake(
                "copied, and not turned",
                known.gives_for(cases.area(64, 64), lambda case: case.arguments[0]),
                "The matrix arrives as it was. out[row, column] is x[column, row].",
            ),
            Mistake(
                "the tiles moved, and none was turned",
                known.gives_for(cases.area(64, 64), cases.moved_only),
                "Each tile is in its new place, but inside it rows are still rows: swap the two indices of the tile "
                "when you read it.",
            ),
            Mistake(
                "each tile was turned where it stood",
                known.gives_for(cases.area(64, 64), cases.turned_in_place),
                "Inside the tiles all is well; the tile itself must move as well: its column of blocks, blockIdx.x, "
                "becomes its row.",
            ),
            Mistake(
                "no guard",
                known.out_of_bounds,
                "Tiles at the edge reach past the matrix: guard the load with the shape of x, and the store with that "
                "of out.",
            ),
            Mistake(
                "one guard for the load and the store",
                known.both(known.partly_written, cases.whole_tiles_right),
                "A thread loads one element and stores another. Whether the first exists says nothing of the second: "
                "the store needs a guard of its own.",
            ),
            Mistake(
                "the fractions are lost",
                known.gives(lambda case: np.trunc(case.out.expected)),
                "The tile holds whole numbers. The data is float32: declare the tile so.",
            ),
            Mistake(
                "lanes that stride over memory",
                lambda e: known.over("sectors per store request")(e) or known.over("sectors per load request")(e),
                "The result is right, but in one of the two global accesses the lanes of a warp are a whole row "
                "apart. Load a tile along rows, store it along rows, and turn it in between.",
            ),
            Mistake(
                "the tile holds doubles",
                cases.doubles,
                "Elements of 8 bytes take two banks each, so every request takes two wavefronts. The data is float32: "
                "declare the tile so.",
            ),
            Mistake(
                "a column of the tile lies in one bank",
                lambda e: known.over("wavefronts per shared load")(e) or known.over("wavefronts per shared store")(e),
                "Rows of 32 floats put a whole column into one bank. One unused float a row moves each row on by "
                "one bank.",
            ),
        ),
        hints=(
            "Load tile[y, x] along a row of x, let all threads meet, then store along a row of out. Which element of "
            "the tile is it then?",
            "The second half has indices of its own: row = 32 * blockIdx.x + threadIdx.y, column = 32 * blockIdx.y + "
            "threadIdx.x, with a guard by out.shape.",
            "out[row, column] = tile[threadIdx.x, threadIdx.y], from a tile of 32 × 33.",
        ),
        solution="""
@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((32, 33), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, ty]
""",
        why=(
            "Both global accesses run along rows, 4 sectors a request. The turn happens in shared memory, where a "
            "column costs no more than a row once rows are 33 floats apart: 33 is odd, so the 32 words of a column "
            "lie in 32 banks. The barrier stands between the guards, where every thread comes by."
        ),
        stretch="drop the padding and store into tile[ty, tx ^ ty] instead: no word is wasted.",
    ),
    Exercise(
        key="ch05.stencil",
        title="a sum over nine neighbours, in CUDA C",
        language="cuda",
        name="stencil",
        cases=lambda: [cases.stencil_case(n) for n in SIZES],
        measured=lambda: cases.stencil_case(4096),
        sanitize=True,
        budgets=(
            Budget(
                "sectors loaded for 4,096 floats",
                lambda profile: profile["global_read_sectors"],
                800,
                "A block needs its 128 elements and 4 more on either side: about 20 sectors, if it loads each once.",
            ),
            SHARED_LOADS,
        ),
        mistakes=(
            TOO_SMALL,
            DIVERGENT,
            Mistake(
                "the tile has no halo",
                known.gives(cases.without_halo(True, True)),
                "The first and last threads of a block need neighbours that belong to other blocks. Load 4 elements "
                "more on either side.",
            ),
            Mistake(
                "the halo is missing on one side",
                lambda e: any(known.gives(cases.without_halo(*side))(e) for side in ((True, False), (False, True))),
                "One end of each block is right, the other takes its neighbours for 0: load 4 elements beyond both.",
            ),
            Mistake(
                "the edges are repeated",
                known.gives(cases.edge_repeated),
                "Before the first element and behind the last you took that element again. What lies outside counts "
                "as 0.",
            ),
            Mistake(
                "a window of the wrong length or off centre",
                cases.off_centre,
                "Each sum takes nine elements, four on either side of its own. With tile[0] four places before the "
                "block's first element, thread t sums tile[t] to tile[t + 8], both included.",
            ),
            Mistake(
                "no guard",
                known.out_of_bounds,
                "The halo of the first block begins before the array, that of the last ends behind it. Those elements "
                "count as 0 and must not be loaded: 0 <= i && i < n. The store needs a guard as well.",
            ),
            LEFT_EARLY,
            UNFILLED,
            TWICE,
            NO_BARRIER,
            ADDED,
            Mistake(
                "a mean, not a sum",
                known.gives(lambda case: case.out.expected / (2 * REACH + 1)),
                "Asked is the sum of the nine.",
            ),
            Mistake(
                "its own element is left out",
                known.gives(lambda case: case.out.expected - case.arguments[0]),
                "The nine are the element itself and four on either side.",
            ),
            Mistake(
                "every neighbour comes from global memory",
                lambda e: known.spent(e, "sectors loaded for 4,096 floats") > 5000,
                "Right, but each element is loaded nine times. Load it once for the block, into shared memory.",
            ),
            Mistake(
                "more is loaded than the tile",
                known.over("sectors loaded for 4,096 floats"),
                "Right, but a block asks for more than the 20 sectors of its 136 elements: some are loaded again, or "
                "lanes load one at a time, and fetch the same sector eight times. Thread t loads elements t and t + "
                "128.",
            ),
            Mistake(
                "the tile holds doubles",
                lambda e: known.spent(e, SHARED_LOADS.label) == 2,
                "Elements of 8 bytes take two banks each, so every request takes two wavefronts. The data is float32: "
                "declare the tile so.",
            ),
        ),
        hints=(
            "How many elements does a block of 128 threads read in all? That is the size of the tile.",
            "136 elements and 128 threads: for (int j = threadIdx.x; j < 136; j += 128). tile[j] holds "
            "x[first - 4 + j], or 0 outside.",
            "After the barrier, thread t sums tile[t] to tile[t + 8], and stores it if its element exists.",
        ),
        solution="""
extern "C" __global__
void stencil(const float* x, float* out, int n) {
    __shared__ float tile[128 + 8];
    int first = blockIdx.x * 128, t = threadIdx.x;
    for (int j = t; j < 136; j += 128) {
        int i = first - 4 + j;
        tile[j] = 0 <= i && i < n ? x[i] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; ++k) sum += tile[t + k];
    if (first + t < n) out[first + t] = sum;
}
""",
        why=(
            "136 loads take the place of 1,152. Threads beyond the end still help to fill the tile and still come to "
            "the barrier; only their store is guarded. Lanes read neighbouring words of the tile, so there is no bank "
            "conflict at any k."
        ),
        stretch="make the reach an argument and the tile dynamic: extern __shared__ float tile[].",
    ),
    Exercise(
        key="ch05.matmul",
        title="multiply matrices of any shape in tiles, in Numba",
        language="numba",
        name="matmul",
        cases=lambda: [cases.product_case(*shape) for shape in PRODUCTS],
        measured=lambda: cases.product_case(*WHOLE),
        sanitize=True,
        tolerance=1e-4,
        budgets=(
            Budget(
                "sectors loaded for (48 × 64) by (64 × 80)",
                lambda profile: profile["global_read_sectors"],
                4000,
                "15 blocks load 4 pairs of tiles of 256 floats each, 32 sectors a tile: 15 · 4 · 2 · 32 = 3,840.",
            ),
            SHARED_LOADS,
            replace(SHARED_STORES, at_most=2),  # tiles of 16 × 17 are often taught, and cost no more than this
        ),
        mistakes=(
            TOO_SMALL,
            DIVERGENT,
            Mistake(
                "no guard",
                known.out_of_bounds,
                "Tiles at the edge reach past a matrix: guard each load with the shape of its own matrix, and the "
                "store with that of c.",
            ),
            Mistake(
                "the last tile is dropped",
                known.gives(cases.last_tile_dropped),
                "a.shape[1] // 16 counts whole tiles. A last, narrower one has to be added up too: round up.",
            ),
            Mistake(
                "only the last round counts",
                known.gives(cases.last_round_only),
                "The sum begins again in every round. Set it to 0 once, before the loop over tiles.",
            ),
            Mistake(
                "only the last product counts",
                known.gives(cases.last_product_only),
                "Each product takes the place of the one before: the sum grows by +=.",
            ),
            TWICE,
            NO_BARRIER,
            ADDED,
            LEFT_EARLY,
            UNFILLED,
            Mistake(
                "what lies outside is not 0",
                cases.only_part_tiles_wrong,
                "In the last tile some elements lie outside. Left alone, also by threads that have left the loop, they "
                "hold what the tile before brought. In every round each thread writes its place of both tiles: the "
                "element of a, or of b, if that one exists, and else 0.",
            ),
            Mistake(
                "tiles that do not meet",
                known.both(lambda e: any(not o.ok for o in e.outcomes), lambda e: not cases.only_part_tiles_wrong(e)),
                "Even whole tiles come out wrong. In the round that begins at k, thread (x, y) loads a[row, k + x] and "
                "b[k + y, column], and sums mine[y, j] * yours[j, x]. The next round begins 16 further on.",
            ),
            Mistake(
                "straight from global memory",
                known.over("sectors loaded for (48 × 64) by (64 × 80)"),
                "Right, but each element is loaded again for every row or column that needs it.",
            ),
            Mistake(
                "the tiles hold doubles",
                cases.doubles,
                "Elements of 8 bytes take two banks each, so every request takes two wavefronts. The data is float32: "
                "declare the tiles so.",
            ),
            Mistake(
                "a tile is filled or read down its columns",
                lambda e: known.over("wavefronts per shared load")(e) or known.over("wavefronts per shared store")(e),
                "Right, but neighbouring lanes meet in one bank. Let x, which changes from lane to lane, be the last "
                "index of both tiles when you fill them.",
            ),
        ),
        hints=(
            "The loop goes over tiles of the inner dimension, rounded up: (a.shape[1] + 15) // 16.",
            "In each round every thread loads one element of a and one of b, or 0 where there is none. How many "
            "barriers does a round need?",
            "Load both, barrier, sixteen products, barrier. Guard only the loads and the last store.",
        ),
        solution="""
@cuda.jit
def matmul(a, b, c):
    mine, yours = cuda.shared.array((16, 16), "float32"), cuda.shared.array((16, 16), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = 0.0
    for k in range(0, a.shape[1], 16):
        mine[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0
        yours[y, x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else 0.0
        cuda.syncthreads()
        for j in range(16):
            total += mine[y, j] * yours[j, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total
""",
        why=(
            "A zero adds nothing to a sum, so zeros in the tile do the work of a guard in the inner loop. The loop "
            "runs equally long for every thread, so that all of them come to both barriers. Each element is loaded "
            "once for 16 rows or columns."
        ),
        stretch="let each thread compute two rows of c: the tile of b then serves twice as many products.",
    ),
)
