"""What is done wrong in lab 03, by its traces: for each exercise the mistakes in the order in which they are tried."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Mistake
from helpers.exercises import lab03_cases as cases
from helpers.exercises import lab03_traces as traces
from helpers.exercises.ch05_cases import DIVERGENT, LEFT_EARLY, UNFILLED

LOADED = "bytes loaded per byte needed"
STORED = "bytes stored per byte needed"
CONFLICTS = "bank conflicts per shared request"
LOADED_OF_ROWS = "bytes loaded per byte of 64 rows"
LOADS_PER_PRODUCT = "shared loads per product"


PAST_TILE = Mistake(
    "a thread reached past the tile",
    lambda e: known.found("overrun")(e) or known.past_shared(e),
    "A thread reached past the shared array itself. Either it is too small for what one block needs, halo or padding "
    "included, or a loop over it goes too far, or its two indices are swapped.",
)
FILLED_TWICE = Mistake(
    "two threads fill one element of the tile",
    traces.filled_twice,
    "Two threads load the same element of the tile. Share its rows out: a thread begins at its own, threadIdx.y, and "
    "goes on in steps of as many as there are.",
)
NO_BARRIER = Mistake(
    "a barrier is missing",
    known.found(*known.RACES, space="shared"),
    "A thread reads what another wrote, or writes over what another has yet to read, and nothing orders the two. "
    "Between filling a tile and reading it, and between reading it and filling it again, all threads must meet.",
)
ONE_PLACE = Mistake(
    "two threads store to one element",
    known.found(*known.RACES, space="global"),
    "The index of the store gives two threads the same element of out. Look at the distance between its rows, which is "
    "the number of its columns, and at what each thread adds to it.",
)
STRIDING = Mistake(
    "lanes that stride over memory",
    lambda e: known.over(LOADED)(e) or known.over(STORED)(e),
    "Right, but in a global access the lanes of a warp are a whole row apart, or one does the work of all. Load a "
    "tile along its rows, store it along its rows, and change direction in shared memory.",
)
ONE_BANK = Mistake(
    "lanes that meet in a bank",
    known.over(CONFLICTS),
    "Right, but lanes queue at a bank: some use different words that are a multiple of 32 floats apart. In a column of "
    "a tile all 32 do if its rows have 32 floats, and some do whenever that number is even. One unused float a row "
    "moves each row on by one bank.",
)
FRACTIONS = "fractions are lost"
NO_FRACTIONS = "What comes out are whole numbers: something on the way, such as the tile, has a type of integers."


def _guard(words: str) -> Mistake:
    return Mistake("a guard is missing or does not fit", known.out_of_bounds, words)


ROTATE = (
    PAST_TILE,
    DIVERGENT,
    FILLED_TWICE,
    NO_BARRIER,
    Mistake(
        "the tiles moved, and none was turned",
        known.gives_for(cases.area(64, 32), cases.tiles_not_turned),
        "Each tile is in its new place, but inside it rows are still rows: swap the two indices of the tile when you "
        "read it.",
    ),
    Mistake(
        UNFILLED.name,
        UNFILLED.when,
        "Threads read elements of the tile that no thread has written. A tile has 32 rows and a block 8: each thread "
        "loads four pixels. And who stores needs a guard of its own, since others have loaded what it stores.",
    ),
    ONE_PLACE,
    _guard(
        "Tiles at the edge reach past the picture. The load needs rows and columns of x as its guard, the store those "
        "of out. If both are there, look at the index: the last of its columns is rows - 1."
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
        "mirrored, too",
        known.gives(lambda case: np.rot90(case.arguments[0], 2).T),
        "Rows and columns both run backwards. Only one may: the first row becomes the last column, and the first "
        "column the first row.",
    ),
    Mistake(FRACTIONS, known.gives(lambda case: np.trunc(case.out.expected)), NO_FRACTIONS),
    Mistake(
        "every pixel in another place",
        traces.all_there,
        "All pixels are there, at places of others: out[column][rows - 1 - row] = x[row][column]. Which row and "
        "column of x has the pixel of the tile that a thread stores?",
    ),
    Mistake(
        "some of a tile is left out",
        known.partly_written,
        "A block has 8 rows of threads, and a tile 32 rows, so each thread moves four pixels. Those that a "
        "thread stores are not those that it has loaded, and need a guard of their own. So no thread may return "
        "early: it has pixels of others to store.",
    ),
    STRIDING,
    ONE_BANK,
)

POOL = (
    PAST_TILE,
    DIVERGENT,
    LEFT_EARLY,
    Mistake(
        UNFILLED.name,
        UNFILLED.when,
        "Threads read elements of the tile that no thread has written: the halo, its corners, or what lies outside of "
        "x. All 10 × 34 must hold something, and what is outside nothing that could win.",
    ),
    NO_BARRIER,
    _guard("The halo of the blocks at the edge lies outside of x, and so do some threads' own elements."),
    Mistake(
        "outside counts as 0",
        known.gives(lambda case: cases.pooled(case.arguments[0], 0)),
        "Where all neighbours are below zero, a 0 from outside wins. What lies outside must never win: -inf, "
        "or an element that is a neighbour anyway.",
    ),
    Mistake(
        "the search begins at 0",
        known.gives(lambda case: np.maximum(case.out.expected, 0)),
        "Where all nine are below zero, the 0 that the search begins with wins. Begin with one of the nine, or with "
        "-inf.",
    ),
    Mistake(
        "outside counts as a number",
        traces.number_outside,
        "What lies outside of x counts as a number, and wins where all neighbours are less. It must never win: -inf, "
        "or an element that is a neighbour anyway.",
    ),
    Mistake(
        "the least, not the greatest",
        known.gives(lambda case: -cases.pooled(-case.arguments[0])),
        "That is the least of the nine. The greatest is asked for.",
    ),
    Mistake(
        "an index below 0 counts from the end",
        known.gives(cases.pooled_round),
        "As in Python, index -1 is the last row or column in Numba, and no error. Look for indices below 0, too.",
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
    Mistake(FRACTIONS, known.gives(lambda case: np.trunc(case.out.expected)), NO_FRACTIONS),
    Mistake(
        "the nine are those of a neighbour",
        traces.window_off,
        "Most results belong one row or column further. With a halo, x[row, column] is tile[ty + 1, tx + 1], and its "
        "nine begin at tile[ty, tx].",
    ),
    Mistake(
        "some neighbours never count",
        traces.too_few_neighbours,
        "No result is less than its own element, and some are less than the greatest of nine: count all three rows and "
        "all three columns, also across the border of a block.",
    ),
    Mistake(
        "the edge of x is taken for outside",
        traces.edge_wrong,
        "Only results near the edge are wrong, and too small: some elements there were taken for ones outside of x. "
        "Rows and columns go from 0 to shape - 1, both included.",
    ),
    Mistake(
        "more is loaded than a tile and its halo",
        known.over(LOADED),
        "Right, but elements come from global memory more than once: again for every neighbour, or because lanes that "
        "run along columns fetch a sector for each element. Load the 10 × 34 of the block once, along rows.",
    ),
    Mistake(
        "neighbouring lanes meet in a bank",
        known.over(CONFLICTS),
        "Right, but neighbouring lanes use words that are an even number of floats apart. Let threadIdx.x be "
        "the last index of the tile.",
    ),
)

FOLLOW = (
    PAST_TILE,
    DIVERGENT,
    Mistake(
        LEFT_EARLY.name,
        LEFT_EARLY.when,
        "A thread without a row returns at once. But lanes load columns: what it should have loaded is missing in all "
        "rows. Let it load and store, and skip only the walk.",
    ),
    Mistake(
        "reads what no thread has loaded",
        UNFILLED.when,
        "The last tile may be narrower than 32 columns, and the last block may have fewer than 32 rows. Walk "
        "only over what was loaded, lane t along row t of the tile.",
    ),
    NO_BARRIER,
    ONE_PLACE,
    _guard(
        "The last block may have fewer than 32 rows, the last tile fewer than 32 columns: guard loads and "
        "stores by both. If they are there, look at the index: rows are n elements apart."
    ),
    Mistake(
        "begins at 0",
        known.gives(lambda case: cases.followed(*cases.series(case), from_zero=True)),
        "The average begins at the row's first element. From 0 it would need a while to arrive.",
    ),
    Mistake(
        "the weight is another one",
        lambda e: any(known.gives(lambda case, w=w: cases.followed(case.arguments[0], w))(e) for w in (0.25, 0.5)),
        "This is the average for a weight that is always the same. Use the argument: another case has another.",
    ),
    Mistake(
        "the average moves away",
        known.gives(lambda case: cases.followed(case.arguments[0], -case.arguments[4])),
        "A sign is the other one: the average moves towards the element, now + weight * (x - now).",
    ),
    Mistake(
        FRACTIONS,
        traces.whole_numbers,
        NO_FRACTIONS,
    ),
    Mistake(
        "the first tile again and again",
        lambda e: known.gives(cases.first_tile_again)(e) or traces.over_the_first(e),
        "Tiles after the first are loaded from its columns, or stored to them: column t of a tile is column first + t "
        "of the row.",
    ),
    Mistake(
        "the weight is on the other side",
        known.gives(lambda case: cases.followed(case.arguments[0], 1 - case.arguments[4])),
        "The new element counts `weight`, and what the average was 1 - weight: now + weight * (x - now).",
    ),
    Mistake(
        "each tile begins anew",
        lambda e: any(known.gives(cases.follows_anew(zero))(e) for zero in (True, False)),
        "The average goes on from tile to tile: declare it before the loop over tiles.",
    ),
    Mistake(
        "a column of each tile is skipped",
        lambda e: any(known.gives(cases.follows_skipping(place))(e) for place in ("first", "last")),
        "In each tile the walk leaves out the first or the last column. Only the first column of the row may be "
        "skipped, where the average is the element.",
    ),
    Mistake(
        "the elements come out as they were",
        known.gives(lambda case: case.arguments[0]),
        "What is stored is x itself. The walk has to leave each `now` in the tile, since another lane stores it.",
    ),
    Mistake(
        "rows are left out",
        traces.rows_left_out,
        "Whole rows are not written. A block has 32 of them, and begins at row 32 * blockIdx.x.",
    ),
    Mistake(
        "tiles are left out",
        known.partly_written,
        "Rows may be longer than 32, and the last tile may be narrower: go on, tile by tile, until all n columns are "
        "done.",
    ),
    STRIDING,
    ONE_BANK,
)

GRAM = (
    PAST_TILE,
    DIVERGENT,
    _guard(
        "Tiles at the edge reach past the matrix: guard every load by both sizes of a, with the row and column that it "
        "uses, and every store by those of out."
    ),
    Mistake(
        "the last tile is dropped",
        lambda e: any(
            known.gives(dropped(step))(e)
            for step in (8, 16, 32)
            for dropped in (cases.last_tile_dropped, cases.last_column_dropped)
        ),
        "The number of columns need not be a multiple of the tile's: round up, and let zeros stand for what "
        "is outside.",
    ),
    NO_BARRIER,
    LEFT_EARLY,
    Mistake(
        UNFILLED.name,
        UNFILLED.when,
        "Threads read elements of a tile that no thread has written: the load leaves some out, or the loop over "
        "columns goes on beyond those that were loaded. What lies outside of a counts as 0: write that 0.",
    ),
    ONE_PLACE,
    Mistake(
        "what nobody has written is read",
        known.found("uninitialised", space="global"),
        "out holds nothing to begin with. Add up in registers, and store a sum with =, once.",
    ),
    Mistake(
        "one side stands for both",
        lambda e: any(known.gives(cases.one_side_for_both(side))(e) for side in (0, 1)),
        "Blocks on the diagonal are right, and others multiply 32 rows with themselves. One side has rows from 32 * "
        "blockIdx.y on, the other rows from 32 * blockIdx.x on.",
    ),
    Mistake(
        "blocks have changed places",
        known.gives(cases.blocks_exchanged),
        "Blocks on the diagonal are right, and others store to where the block with x and y exchanged belongs. Rows of "
        "out go with the side that is counted by blockIdx.y.",
    ),
    Mistake(
        "two of the four products are swapped",
        known.gives(cases.quarters_swapped),
        "Row y of one side with row x + 16 of the other belongs 16 columns further, and not 16 rows.",
    ),
    Mistake(
        "each tile begins anew",
        lambda e: any(known.gives(cases.last_tile_only(step))(e) for step in (8, 16, 32)),
        "Only the last tile's columns count. Sums go on from tile to tile: set them to 0 before the loop over tiles.",
    ),
    Mistake(
        "some products are never stored",
        known.partly_written,
        "A block of 16 × 16 threads has 32 × 32 elements of out: four for each, 16 apart in both directions. Blocks "
        "begin at multiples of 32, and no part of out is left to be mirrored by somebody else.",
    ),
    Mistake(
        "what lies outside is not 0",
        traces.only_part_tiles_wrong,
        "In the last tile some columns lie outside. Left alone they hold what the tile before brought: put a 0 there.",
    ),
    Mistake(
        "loaded more than once",
        known.over(LOADED_OF_ROWS),
        "Right, but a block loads elements again, or lanes that run along columns fetch sectors again. Load 32 rows "
        "for each side, a piece of their columns at a time and along rows, and make all products of the two pieces "
        "before the next.",
    ),
    ONE_BANK,
    Mistake(
        "more shared loads than products",
        known.over(LOADS_PER_PRODUCT),
        "Right, with more than one load from shared memory for each product. Two elements of each side, in "
        "registers, make four products for four loads.",
    ),
)
