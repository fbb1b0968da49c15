"""Lab 03, shared memory: turn, slide, walk and multiply through tiles, near the least bytes and without conflicts."""

from __future__ import annotations

from dataclasses import replace

from helpers.checking.exercise import Budget, Exercise
from helpers.checking.measures import conflicts_per_shared_request, loaded_for_needed, stored_for_needed
from helpers.exercises import lab03_cases as cases
from helpers.exercises import lab03_mistakes as mistakes
from helpers.exercises.lab03_cases import TILE, WARP
from helpers.exercises.lab03_mistakes import CONFLICTS, LOADED, LOADED_OF_ROWS, LOADS_PER_PRODUCT, STORED

COALESCED = Budget(
    LOADED,
    loaded_for_needed,
    1.1,
    "Every sector comes once if the lanes of a warp read neighbours in a row, and nobody reads them again.",
)
STORES = Budget(
    STORED,
    stored_for_needed,
    1.1,
    "Every sector is stored to once if the lanes of a warp write neighbours in a row.",
    "global_store_sectors",
)
NO_CONFLICTS = Budget(
    CONFLICTS,
    conflicts_per_shared_request,
    0.05,
    "Lanes that use different words of one bank are served one after another. Look at the distance between the words "
    "of neighbouring lanes: an odd one meets all 32 banks.",
    "shared_load_wavefronts",
)


def _of_the_blocks_rows(profile) -> float:
    """Bytes loaded for each byte of the 2 · 32 rows that a block needs, where the rows fill whole tiles."""
    return loaded_for_needed(profile) / (2 * profile.counters.grid[0])


def _loads_per_product(profile) -> float:
    """Shared loads of a thread for each product; there are as many products as rows × rows × columns."""
    elements = profile.counters.footprint.read_bytes / 4
    return WARP * profile["shared_read_requests"] / (elements * TILE * profile.counters.grid[0])


EXERCISES = (
    Exercise(
        key="lab03.rotate",
        title="a picture turned clockwise, in CUDA C",
        language="cuda",
        name="rotate",
        cases=lambda: [cases.rotate_case(*shape) for shape in cases.SHAPES],
        measured=lambda: cases.rotate_case(96, 160),
        drawn=cases.rotates_drawn,
        sanitize=True,
        shared_out=True,
        budgets=(COALESCED, STORES, NO_CONFLICTS),
        mistakes=mistakes.ROTATE,
        hints=(
            "A tile of x, rows top to top + 31 and columns left to left + 31, becomes a tile of out. Which are its "
            "rows and columns there?",
            "Let lanes run along a row of out: row left + y of out, for y = threadIdx.y, + 8, …, and column rows - 1 "
            "- (top + threadIdx.x).",
            "if (left + y < columns && top + t < rows) out[(left + y) * rows + rows - 1 - (top + t)] = tile[t][y]; "
            "with t = threadIdx.x, from a tile of 32 × 33.",
        ),
        why=(
            "Loads run along rows of x, stores along rows of out, and the turn happens in between, on chip. That the "
            "columns of out come in falling order costs nothing: a request is served by sectors, whichever lane wants "
            "which part. Reading a column of the tile is free once its rows are 33 floats apart, because 33 is odd. "
            "With 8 rows of threads, indices are worked out once for four pixels."
        ),
        stretch="turn a picture of three bytes a pixel. What is a good tile then, and which lanes share a word?",
    ),
    Exercise(
        key="lab03.pool",
        title="the greatest of nine neighbours, in Numba",
        language="numba",
        name="pool",
        cases=lambda: [cases.pool_case(*shape) for shape in cases.SHAPES],
        measured=lambda: cases.pool_case(64, 160),
        shared_out=True,
        drawn=cases.pools_drawn,
        sanitize=True,
        budgets=(
            Budget(
                LOADED,
                loaded_for_needed,
                2.3,
                "A block of 8 × 32 needs 10 × 34 elements: 10 rows of 7 sectors in two requests, where its own are 8 "
                "rows of 4.",
            ),
            NO_CONFLICTS,
        ),
        mistakes=mistakes.POOL,
        hints=(
            "340 elements and 256 threads: go over the tile in steps of the block, along each row and from row to row.",
            "tile[y, x] holds x[top + y - 1, left + x - 1]. Outside, clamp the index to the nearest row and column: "
            "that element is among the neighbours anyway, so it can not win wrongly.",
            "for y in range(cuda.threadIdx.y, 10, 8): for x in range(cuda.threadIdx.x, 34, 32): … Then the barrier, "
            "then the greatest of tile[ty : ty + 3, tx : tx + 3], then a guard for the store.",
        ),
        why=(
            "Nine threads want each element, so loading it once for the block saves most of the traffic. The halo is "
            "what remains: 340 elements for 256, and rows of 34 floats that begin one float before a sector touch 6 "
            "sectors where 4 would do. A taller tile has less halo for its area. Clamped indices make the edge a "
            "matter of the load alone: every thread comes to the barrier, and no neighbour has to be asked for."
        ),
        stretch=(
            "a maximum of nine is one of three maxima of three. Take rows first, then columns: how many shared loads "
            "are left?"
        ),
    ),
    Exercise(
        key="lab03.follow",
        title="a running average, a thread for each row, in CUDA C",
        language="cuda",
        name="follow",
        cases=lambda: [cases.follow_case(*shape) for shape in cases.SHAPES],
        measured=lambda: cases.follow_case(64, 160),
        shared_out=True,
        drawn=cases.follows_drawn,
        sanitize=True,
        budgets=(COALESCED, STORES, NO_CONFLICTS),
        mistakes=mistakes.FOLLOW,
        hints=(
            "Who loads need not be who walks. In a tile of 32 × 32, lanes load along a row, and each lane walks along "
            "a row.",
            "For each tile: all lanes load row 0, row 1, …; barrier; lane t walks along tile[t], and leaves there "
            "what it finds; barrier; all lanes store row 0, row 1, … to out.",
            "tile[32][33]; the average lives in a register, `now`, from tile to tile. In the walk, tile[t][k] = now "
            "+= weight * (tile[t][k] - now) for k up to min(32, n - first).",
        ),
        why=(
            "Some work has an order, here along a row, and wants a thread for each row; memory wants lanes side by "
            "side in a row. A tile gives both what they want, for a load and a store of shared memory more. The walk "
            "goes down a column of the tile in each step, so the padding decides whether 32 lanes take one wavefront "
            "or 32. This is how filters, recurrences and sequences of a batch are read, whenever time is the last "
            "axis."
        ),
        stretch=(
            "the step now → now + w (x − now) is a linear map. Maps can be composed, so a row can be scanned by a warp."
        ),
    ),
    Exercise(
        key="lab03.gram",
        title="every row times every row, four products a thread, in Numba",
        language="numba",
        name="gram",
        cases=lambda: [cases.gram_case(*shape) for shape in ((1, 1), (1, 13), (13, 1), (31, 17), (32, 16), (37, 33))],
        measured=lambda: cases.gram_case(96, 64),
        shared_out=True,
        drawn=cases.grams_drawn,
        sanitize=True,
        tolerance=1e-4,
        budgets=(
            Budget(
                LOADED_OF_ROWS,
                _of_the_blocks_rows,
                1.1,
                "A block makes 32 × 32 products of rows and needs 32 rows for one side, 32 for the other: each once.",
            ),
            replace(NO_CONFLICTS, at_most=0.25),
            Budget(
                LOADS_PER_PRODUCT,
                _loads_per_product,
                1.1,
                "Two elements of one side and two of the other make four products: keep them in registers.",
                "shared_load_requests",
            ),
        ),
        mistakes=mistakes.GRAM,
        hints=(
            "Two tiles of 32 rows, some columns wide: rows 32 * blockIdx.y on, and rows 32 * blockIdx.x on. Four sums "
            "in registers.",
            "Pieces of 16 columns: thread (x, y) loads rows y and y + 16 of both tiles, column x. Then for each of "
            "the 16 columns: two elements of each tile, four products.",
            "left and right = shared arrays of (32, 17). In round j: a0, a1 = left[y, j], left[y + 16, j]; b0, b1 = "
            "right[x, j], right[x + 16, j]; four sums grow by a0 * b0, a0 * b1, a1 * b0, a1 * b1.",
        ),
        why=(
            "Tiles spare global memory, registers spare shared memory: the same idea, one level up. A block of 16 × "
            "16 threads with 32 × 32 results loads each element half as often as one with 16 × 16, and four products "
            "for four loads halve the requests to shared memory. Both factors are read along rows of a, so nothing "
            "has to be transposed; only the padding differs from a plain product. More results a thread go on in the "
            "same way, until registers run out."
        ),
        stretch=(
            "out is symmetric. Let blocks below the diagonal return at once, and the others store both halves, "
            "coalesced."
        ),
    ),
)
