"""Which rows of a tensor a rank keeps, and how many it pads, when a tensor is cut for an all-gather."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

ROWS = ((8, 4, 1), (8, 4, 3), (10, 4, 0), (10, 4, 2), (10, 4, 3), (5, 4, 2), (5, 4, 3), (3, 8, 1), (3, 8, 5), (1, 1, 0))
LENGTH, FIRST, LAST = "(rows + ranks - 1) // ranks", "min(rank * length, rows)", "min(first + length, rows)"


def _case(rows: int, ranks: int, rank: int) -> Case:
    length = -(-rows // ranks)
    first = min(rank * length, rows)
    last = min(first + length, rows)
    name = f"{plural(rows, 'row')} on {plural(ranks, 'rank')}, rank {rank}"
    return Case(name, (rows, ranks, rank), expected=(first, last, length - (last - first)))


EXERCISE = Exercise(
    key="ch22.shard",
    title="which rows a rank keeps",
    language="python",
    name="shard",
    cases=lambda: [_case(*row) for row in ROWS],
    hints=(
        "An all-gather wants parts of one length from all ranks. How long has a part to be at least, so that they hold "
        "all rows?",
        "The length is rows / ranks, rounded up. Rank r begins at row r · length. What is wrong with that for the last "
        "ranks?",
        f"first = {FIRST}, last = {LAST}, and padding = length - (last - first).",
    ),
    solution=f"""
def shard(rows, ranks, rank):
    length = {LENGTH}
    first = {FIRST}
    last = {LAST}
    padding = length - (last - first)
    return first, last, padding
""",
    why="torch.chunk cuts like this, and so does fully_shard: parts of one length as long as there are rows, then a "
    "shorter one, then empty ones. Padding makes all parts equally long for the message. A layer with fewer rows than "
    "ranks leaves ranks without anything, and still sends padding: one reason to put small parameters together.",
    stretch="how many bytes of padding does an all-gather of a (50257, 768) embedding carry on 8 ranks?",
    mistakes=(
        Mistake(
            "rounded down",
            "With rows // ranks the rows that are left over belong to nobody. Round up.",
            ((LENGTH, "rows // ranks"), (LENGTH, "max(1, rows // ranks)")),
        ),
        Mistake(
            "beyond the end",
            "The last part may be shorter: no rank keeps rows that the tensor does not have.",
            (((LAST, "first + length"),), ((LAST, "(rank + 1) * length"), (FIRST, "rank * length"))),
        ),
        Mistake(
            "it begins behind the end",
            "A rank for which nothing is left has an empty part: it begins and ends at the last row.",
            ((FIRST, "rank * length"),),
        ),
        Mistake(
            "shared out evenly",
            "np.array_split gives the first ranks one row more. torch.chunk cuts parts of one length, and the last "
            "ones "
            "are shorter or empty.",
            ("    length = (rows + ranks - 1) // ranks\n    first = rank * (rows // ranks) + min(rank, rows % ranks)\n"
             "    last = first + rows // ranks + (rank < rows % ranks)\n"
             "    return first, last, length - (last - first)",),
        ),
        Mistake(
            "no padding",
            "A part that is shorter than the others is padded to their length for the message.",
            (("padding = length - (last - first)", "padding = 0"),
             ("padding = length - (last - first)", "padding = last - first")),
        ),
        Mistake(
            "all padding on every rank",
            "The third number is this rank's own padding, not that of all ranks together.",
            (("padding = length - (last - first)", "padding = length * ranks - rows"),),
        ),
        Mistake(
            "the last row is counted",
            "As in a slice, `last` is the first row that is not kept.",
            (("return first, last, padding", "return first, last - 1, padding"),),
        ),
    ),
)  # fmt: skip
