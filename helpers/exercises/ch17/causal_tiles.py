"""Which tiles a causal mask leaves: how many a kernel goes through, and in how many of them it has to look."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

SIZES = (
    (1, 1, 1),
    (8, 4, 4),
    (8, 4, 2),
    (8, 2, 4),
    (100, 32, 16),
    (96, 32, 32),
    (50, 16, 64),
    (7, 3, 2),
    (1024, 128, 32),
)


def _tiles(length: int, rows: int, keys: int) -> list[int]:
    visited = masked = 0
    for first in range(0, length, rows):
        last = min(first + rows, length) - 1
        for start in range(0, length, keys):
            if start <= last:
                visited += 1
                masked += min(start + keys, length) - 1 > first
    return [visited, masked]


def _case(length: int, rows: int, keys: int) -> Case:
    name = f"length {length}, tiles of {rows} queries and {keys} keys"
    return Case(name, (length, rows, keys), expected=_tiles(length, rows, keys))


VISITED, MASKED = "start <= last_query", "last_key > first_query"

EXERCISE = Exercise(
    key="ch17.causal_tiles",
    title="the tiles that a causal mask leaves",
    language="python",
    name="causal_tiles",
    cases=lambda: [_case(*row) for row in SIZES],
    hints=(
        "Query i sees the keys 0 to i. Of which query of a tile does it depend whether the tile is needed at all?",
        "A tile is needed when its first key is not behind its last query. It is needed whole when its last key is not "
        "behind its first query.",
        "Two loops: first_query in steps of rows, start in steps of keys. Count start <= last_query, and among those "
        "last_key > first_query.",
    ),
    solution=f"""
def causal_tiles(length, rows, keys):
    visited = 0
    masked = 0
    for first_query in range(0, length, rows):
        last_query = min(first_query + rows, length) - 1
        for start in range(0, length, keys):
            last_key = min(start + keys, length) - 1
            if {VISITED}:
                visited += 1
                if {MASKED}:
                    masked += 1
    return [visited, masked]
""",
    why="Only tiles that the diagonal passes through need the comparison of key and query; those below it are whole, "
    "and those above it are skipped. For long sequences about half of all tiles are left, and few of them need a mask.",
    stretch="a sliding window lets query i see the last w keys only. Which tiles are left, and which need a mask?",
    mistakes=(
        Mistake(
            "every tile is visited",
            "Tiles whose keys all come after all of their queries hold nothing that anybody may see. Skip them.",
            ((VISITED, "True"),),
        ),
        Mistake(
            "judged by the first query",
            "The last query of a tile sees most keys. If it sees any of the tile, the tile is needed.",
            ((VISITED, "start <= first_query"),),
        ),
        Mistake(
            "a query does not see its own key",
            "Query i sees keys 0 to i, its own among them: less or equal.",
            ((VISITED, "start < last_query"), (MASKED, "last_key >= first_query")),
        ),
        Mistake(
            "every visited tile needs the mask",
            "A tile whose last key is not behind its first query is seen whole, by all of its queries.",
            ((MASKED, "True"),),
        ),
        Mistake(
            "the mask is judged by the last query",
            "The first query sees fewest keys. If it sees the whole tile, no mask is needed.",
            ((MASKED, "last_key > last_query"),),
        ),
        Mistake(
            "the mask is judged by the first key",
            "The last key of a tile is the one that is hidden first.",
            ((MASKED, "start > first_query"),),
        ),
        Mistake(
            "the sequence may end within a tile",
            "The last tile may be cut off by the end of the sequence. Take the smaller of both ends.",
            (("min(start + keys, length)", "(start + keys)"),),
        ),
        Mistake(
            "tiles of queries and of keys are mixed up",
            "Queries go in steps of `rows`, keys in steps of `keys`.",
            ((("first_query in range(0, length, rows)", "first_query in range(0, length, keys)"),
              ("first_query + rows", "first_query + keys"),
              ("start in range(0, length, keys)", "start in range(0, length, rows)"),
              ("start + keys", "start + rows")),),
        ),
    ),
)  # fmt: skip
