"""Which groups may stay under way when a tile is needed: the argument of wait_group in a loop over stages."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

ROUNDS = ((2, 0, 5), (2, 4, 5), (1, 0, 3), (3, 0, 8), (3, 5, 8), (3, 6, 8), (3, 7, 8), (4, 0, 2), (4, 1, 2), (5, 3, 9))


def _case(stages: int, tile: int, tiles: int) -> Case:
    name = f"{plural(stages, 'stage')}, tile {tile} of {plural(tiles, 'tile')}"
    return Case(name, (stages, tile, tiles), expected=min(stages - 1, tiles - 1 - tile))


EXERCISE = Exercise(
    key="ch16.pending",
    title="how many groups may stay under way",
    language="python",
    name="pending",
    cases=lambda: [_case(*each) for each in ROUNDS],
    hints=(
        "Write down for 3 stages and 8 tiles which groups are committed when tile 0 is needed, when tile 5, when tile "
        "7.",
        "Committed are the groups of all tiles up to tile + stages - 1, or up to the last tile there is. The group of "
        "`tile` must have landed, and with it all before it.",
        "Later groups than that of `tile`: stages - 1 of them in the middle, tiles - 1 - tile near the end.",
    ),
    solution="""
def pending(stages, tile, tiles):
    latest = min(tile + stages - 1, tiles - 1)
    return latest - tile
""",
    why="wait_group N says which groups may stay: the N latest. So it counts from the end of what was committed, and "
    "near the end of the loop there are fewer. A loop that commits an empty group there keeps the count the same in "
    "every round, so that N can be a constant, which the instruction requires.",
    stretch="the kernel of this section commits an empty group when no tile is left. Which N is right then, in each "
    "round?",
    mistakes=(
        Mistake(
            "the last tiles are forgotten",
            "Near the end fewer groups come after this one. A wait that leaves more of them leaves this tile's, too.",
            (("min(tile + stages - 1, tiles - 1)", "tile + stages - 1"),),
        ),
        Mistake(
            "all stages stay under way",
            "With `stages` groups under way this tile's own group is one of them: it has to land.",
            (("tile + stages - 1", "tile + stages"),),
        ),
        Mistake(
            "nothing may stay",
            "That waits for everything, also for tiles that are needed later only: right, but nothing overlaps.",
            (("return latest - tile", "return 0"),),
        ),
        Mistake(
            "one tile too early",
            "That waits for the tile after this one as well. Only this one is needed.",
            (("tile + stages - 1", "tile + stages - 2"), ("return latest - tile", "return max(latest - tile - 1, 0)")),
        ),
        Mistake(
            "the number of the group",
            "wait_group takes how many of the latest groups may stay, not which group has to land.",
            (("return latest - tile", "return tile"), ("return latest - tile", "return latest")),
        ),
    ),
)  # fmt: skip
