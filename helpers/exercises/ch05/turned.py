"""Where a thread of the tiled transpose stores, and what: the indices on both sides of the barrier."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

THREADS = (
    ((0, 0), (0, 0)), ((0, 0), (5, 0)), ((0, 0), (0, 7)), ((2, 0), (5, 7)), ((0, 3), (5, 7)), ((1, 4), (31, 2)),
    ((6, 1), (30, 31)),
)  # fmt: skip


def _case(block: tuple[int, int], thread: tuple[int, int]) -> Case:
    (bx, by), (tx, ty) = block, thread
    stored = (32 * bx + ty, 32 * by + tx), (tx, ty)
    return Case(f"block {block}, thread {thread}", (bx, by, tx, ty), expected=stored)


EXERCISE = Exercise(
    key="ch05.turned",
    title="where a thread of the tiled transpose stores",
    language="python",
    name="stores",
    cases=lambda: [_case(*one) for one in THREADS],
    hints=(
        "The block has loaded its tile from row 32 * by and column 32 * bx of x. Where in out does this tile belong?",
        "Its first element belongs at row 32 * bx and column 32 * by. Neighbouring lanes, which differ in tx, have to "
        "store neighbours in a row.",
        "The place is (32 * bx + ty, 32 * by + tx). What belongs there was loaded by the thread whose tx and ty are "
        "exchanged, so it lies in tile[tx, ty].",
    ),
    solution="""
def stores(bx, by, tx, ty):
    place = (32 * bx + ty, 32 * by + tx)
    element = (tx, ty)
    return place, element
""",
    why="Two things turn. The tile as a whole goes to the place with rows and columns exchanged, which the two block "
    "numbers do. Within the tile the element turns, while tx still runs along a row of out, as coalescing wants it.",
    stretch="tiles of 32 × 16: which of the numbers change, and what is the shape of the grid for out?",
    mistakes=(
        Mistake(
            "the tile stays where it was",
            "x[row, column] belongs to out[column, row]. So the tile of block (bx, by) goes where bx counts the rows.",
            (("32 * bx + ty, 32 * by + tx", "32 * by + ty, 32 * bx + tx"),),
        ),
        Mistake(
            "each thread stores what it has loaded",
            "Then nothing turns within the tile. A thread stores what the one with exchanged tx and ty has loaded.",
            (("(tx, ty)", "(ty, tx)"),),
        ),
        Mistake(
            "stored down a column",
            "Lanes differ in tx. Where tx chooses the row of out, a warp stores down a column, and that is the price "
            "which the tile should save.",
            (
                ("32 * bx + ty, 32 * by + tx", "32 * bx + tx, 32 * by + ty"),
                (("32 * bx + ty, 32 * by + tx", "32 * bx + tx, 32 * by + ty"), ("(tx, ty)", "(ty, tx)")),
            ),
        ),
        Mistake(
            "column before row",
            "Give the row first, then the column, as in out[row, column] and tile[row, column].",
            (("32 * bx + ty, 32 * by + tx", "32 * by + tx, 32 * bx + ty"),
             (("32 * bx + ty, 32 * by + tx", "32 * by + tx, 32 * bx + ty"), ("(tx, ty)", "(ty, tx)"))),
        ),
        Mistake(
            "the block is left out",
            "A block's tile begins 32 elements further on for each block before it.",
            (("32 * bx + ty, 32 * by + tx", "ty, tx"), ("32 * bx + ty, 32 * by + tx", "bx + ty, by + tx")),
        ),
        Mistake(
            "the element counted in the whole matrix",
            "The tile has 32 rows and 32 columns of its own, which count from 0 in every block.",
            (("element = (tx, ty)", "element = (32 * bx + tx, 32 * by + ty)"),
             ("element = (tx, ty)", "element = (32 * by + tx, 32 * bx + ty)")),
        ),
        Mistake(
            "only one of the two",
            "Return both: the place in out, and the element of the tile that belongs there.",
            (("return place, element", "return place"), ("return place, element", "return element"),
             ("return place, element", "return element, place")),
        ),
    ),
)  # fmt: skip
