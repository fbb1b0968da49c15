"""Lab 03, shared memory: turn, slide, walk and multiply through tiles, near the least bytes and without conflicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers.exercises import Budget, Exercise, Mistake
from helpers.exercises import lab03_cases as cases
from helpers.exercises import mistakes as known
from helpers.exercises.ch05 import DIVERGENT, LEFT_EARLY, NO_BARRIER, UNFILLED
from helpers.exercises.lab03_cases import TILE, WARP
from helpers.exercises.measures import conflicts_per_shared_request, loaded_for_needed, stored_for_needed

LOADED = "bytes loaded per byte needed"
STORED = "bytes stored per byte needed"
CONFLICTS = "bank conflicts per shared request"

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
TOO_SMALL = Mistake(
    "the tile is too small",
    lambda e: known.found("overrun")(e) or any("shared memory" in str(outcome.error) for outcome in e.outcomes),
    "A thread reached past the shared array itself. Count what one block needs, halo or padding included.",
)
STRIDING = Mistake(
    "lanes that stride over memory",
    lambda e: known.over(LOADED)(e) or known.over(STORED)(e),
    "Right, but in a global access the lanes of a warp are a whole row apart, or one does the work of all. Load a "
    "tile along its rows, store it along its rows, and change direction in shared memory.",
)
ONE_BANK = Mistake(
    "a column of the tile lies in one bank",
    known.over(CONFLICTS),
    "Right, but lanes queue at a bank: neighbouring lanes use words that are 32 floats apart, or another even number. "
    "One unused float a row moves each row on by one bank.",
)


def _of_the_blocks_rows(profile) -> float:
    """Bytes loaded for each byte of the 2 · 32 rows that a block needs, where the rows fill whole tiles."""
    return loaded_for_needed(profile) / (2 * profile.counters.grid[0])


def _only_part_tiles_wrong(evidence) -> bool:
    """Wrong wherever the columns leave a part of a tile, right where they do not."""
    whole = [outcome.ok for outcome in evidence.outcomes if outcome.case.arguments[0].shape[1] % 16 == 0]
    return all(whole) and any(outcome.got is not None and not outcome.ok for outcome in evidence.outcomes)


def _partly_written(evidence) -> bool:
    return known.untouched_somewhere(evidence) and not known.nothing_written(evidence)


def _loads_per_product(profile) -> float:
    """Shared loads of a thread for each product; there are as many products as rows × rows × columns."""
    elements = profile.counters.footprint.read_bytes / 4
    return WARP * profile["shared_load_requests"] / (elements * TILE * profile.counters.grid[0])


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
        budgets=(COALESCED, STORES, NO_CONFLICTS),
        mistakes=(
            TOO_SMALL,
            DIVERGENT,
            NO_BARRIER,
            UNFILLED,
            Mistake(
                "no guard",
                known.out_of_bounds,
                "Tiles at the edge reach past the picture. The load needs rows and columns of x as its guard, the "
                "store those of out.",
            ),
            Mistake(
                "turned the other way",
                known.gives(lambda case: np.rot90(case.arguments[0])),
                "This is a quarter turn to the left. To the right, the lower left corner comes to the upper left: "
                "out[column][rows - 1 - row] = x[row][column].",
            ),
            Mistake(
                "transposed, not turned",
                known.gives(lambda case: case.arguments[0].T),
                "Rows became columns, but the first row has to be the last column: rows - 1 - row.",
            ),
            Mistake(
                "some of a tile is left out",
                _partly_written,
                "A block has 8 rows of threads, and a tile 32 rows, so each thread moves four pixels. Those that a "
                "thread stores are not those that it has loaded, and need a guard of their own.",
            ),
            STRIDING,
            ONE_BANK,
        ),
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
        mistakes=(
            TOO_SMALL,
            DIVERGENT,
            LEFT_EARLY,
            UNFILLED,
            NO_BARRIER,
            Mistake(
                "no guard",
                known.out_of_bounds,
                "The halo of the blocks at the edge lies outside of x, and so do some threads' own elements.",
            ),
            Mistake(
                "outside counts as 0",
                known.gives(lambda case: cases.pooled(case.arguments[0], 0)),
                "Where all neighbours are below zero, a 0 from outside wins. What lies outside must never win: -inf, "
                "or an element that is a neighbour anyway.",
            ),
            Mistake(
                "the tile has no halo",
                known.gives(cases.pooled_in_blocks),
                "Elements at the border of a block need neighbours that belong to other blocks: load one more row and "
                "column on every side.",
            ),
            Mistake(
                "corners are left out",
                known.gives(lambda case: cases.pooled(case.arguments[0], corners=False)),
                "Nine elements count: those at the corners, too.",
            ),
            Mistake(
                "every neighbour comes from global memory",
                known.over(LOADED),
                "Right, but an element is loaded again for every neighbour. Load it once for the block, into shared "
                "memory.",
            ),
            Mistake(
                "neighbouring lanes meet in a bank",
                known.over(CONFLICTS),
                "Right, but neighbouring lanes use words that are an even number of floats apart. Let threadIdx.x be "
                "the last index of the tile.",
            ),
        ),
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
        drawn=cases.follows_drawn,
        sanitize=True,
        budgets=(COALESCED, STORES, NO_CONFLICTS),
        mistakes=(
            TOO_SMALL,
            DIVERGENT,
            Mistake(
                "reads what no thread has loaded",
                UNFILLED.when,
                "The last tile may be narrower than 32 columns, and the last block may have fewer than 32 rows. Walk "
                "only over what was loaded.",
            ),
            NO_BARRIER,
            Mistake(
                "no guard",
                known.out_of_bounds,
                "The last block may have fewer than 32 rows, the last tile fewer than 32 columns: guard loads and "
                "stores by both.",
            ),
            Mistake(
                "begins at 0",
                known.gives(lambda case: cases.followed(case.arguments[0], from_zero=True)),
                "The average begins at the row's first element. From 0 it would need a while to arrive.",
            ),
            Mistake(
                "each tile begins anew",
                lambda e: any(known.gives(cases.follows_anew(zero))(e) for zero in (True, False)),
                "The average goes on from tile to tile: declare it before the loop over tiles.",
            ),
            Mistake(
                "only the first tile",
                _partly_written,
                "Rows may be longer than 32: go on, tile by tile.",
            ),
            STRIDING,
            ONE_BANK,
        ),
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
        measured=lambda: cases.gram_case(96, 48),
        drawn=cases.grams_drawn,
        sanitize=True,
        tolerance=1e-4,
        budgets=(
            Budget(
                "bytes loaded per byte of 64 rows",
                _of_the_blocks_rows,
                1.1,
                "A block makes 32 × 32 products of rows and needs 32 rows for one side, 32 for the other: each once.",
            ),
            replace(NO_CONFLICTS, at_most=0.1),
            Budget(
                "shared loads per product",
                _loads_per_product,
                1.1,
                "Two elements of one side and two of the other make four products: keep them in registers.",
                "shared_load_requests",
            ),
        ),
        mistakes=(
            TOO_SMALL,
            DIVERGENT,
            Mistake(
                "no guard",
                known.out_of_bounds,
                "Tiles at the edge reach past the matrix: guard every load by both sizes of a, and every store by "
                "those of out.",
            ),
            Mistake(
                "the last tile is dropped",
                lambda e: any(known.gives(cases.last_tile_dropped(step))(e) for step in (8, 16, 32)),
                "The number of columns need not be a multiple of the tile's: round up, and let zeros stand for what "
                "is outside.",
            ),
            NO_BARRIER,
            LEFT_EARLY,
            UNFILLED,
            Mistake(
                "one product a thread",
                _partly_written,
                "A block of 16 × 16 threads has 32 × 32 elements of out: four each, 16 apart in both directions.",
            ),
            Mistake(
                "what lies outside is not 0",
                _only_part_tiles_wrong,
                "In the last tile some columns lie outside. Left alone they hold what the tile before brought: put a "
                "0 there.",
            ),
            Mistake(
                "loaded more than once",
                known.over("bytes loaded per byte of 64 rows"),
                "Right, but a block loads elements again. Load 32 rows for each side, a piece of their columns at a "
                "time, and make all products of the two pieces before the next.",
            ),
            ONE_BANK,
            Mistake(
                "more shared loads than products",
                known.over("shared loads per product"),
                "Right, with more than one load from shared memory for each product. Two elements of each side, in "
                "registers, make four products for four loads.",
            ),
        ),
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
