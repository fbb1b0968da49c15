"""The parities that a producer and a consumer wait for, at a given tile of a ring of stages."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

TILES = ((0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 3), (6, 3), (11, 4), (12, 4))


def _case(tile: int, stages: int) -> Case:
    round_ = tile // stages
    return Case(f"tile {tile}, {plural(stages, 'stage')}", (tile, stages), expected=(round_ % 2, (round_ + 1) % 2))


EXERCISE = Exercise(
    key="ch16.parities",
    title="the parities of a ring",
    language="python",
    name="parities",
    cases=lambda: [_case(*each) for each in TILES],
    hints=(
        "How often has this stage been filled before this tile comes into it?",
        "Call that the round: tile // stages. The consumer waits for phase number `round` of full, the producer for "
        "phase `round - 1` of empty.",
        "full: round % 2. empty: (round - 1) % 2, which in Python is (round + 1) % 2, also for round 0.",
    ),
    solution="""
def parities(tile, stages):
    round_ = tile // stages
    full = round_ % 2
    empty = (round_ + 1) % 2
    return full, empty
""",
    why="A stage's phase has the number of its round, and a parity is that number's last bit. In round 0 the producer "
    "asks for parity 1, that of the phase before the first. A fresh mbarrier says that this one is over, so the first "
    "round needs no special case.",
    stretch="why is one bit enough? How far could the producer get ahead of the consumer, at most?",
    equivalent=((("(round_ + 1) % 2", "(round_ - 1) % 2"), "the same: Python's % is never negative"),),
    mistakes=(
        Mistake(
            "the parity of the tile",
            "Phases are counted for each stage: a stage's phase changes once a round, not once a tile.",
            (("tile // stages", "tile"),),
        ),
        Mistake(
            "the number of the stage",
            "tile % stages says which mbarrier. Its phase is how often that stage was filled before: tile // stages.",
            (("tile // stages", "tile % stages"),),
        ),
        Mistake(
            "both wait for the same parity",
            "The producer waits for the phase of the round before: the stage has to be read before it is filled again.",
            (("(round_ + 1) % 2", "round_ % 2"),),
        ),
        Mistake(
            "full and empty change places",
            "The consumer's parity comes first: (full, empty).",
            (("return full, empty", "return empty, full"),),
        ),
        Mistake(
            "the number of the phase",
            "A parity is one bit: the phase's number modulo 2.",
            (
                ("full = round_ % 2", "full = round_"), ("(round_ + 1) % 2", "round_ + 1"),
                ("(round_ + 1) % 2", "round_ - 1"),
            ),
        ),
    ),
)  # fmt: skip
