"""A row pruned 2:4 and packed: the two largest of each four, and their places."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

ROWS = (
    ("one four", (1.0, 2.0, 3.0, 4.0)),
    ("signs do not matter", (-4.0, 1.0, 0.5, -3.0)),
    ("two fours of different size", (0.1, 0.2, -0.3, 0.05, 10.0, -20.0, 30.0, 5.0)),
    ("equal sizes", (1.0, -1.0, 1.0, 1.0, 2.0, 3.0, -2.0, 2.0)),
    ("zeros", (0.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0, 0.0)),
    ("the larger comes last", (0.0, 1.0, 0.0, 9.0, 5.0, 0.0, 8.0, 0.0)),
)
BEST = "sorted(range(4), key=lambda place: -abs(four[place]))[:2]"


def _packed(row: tuple[float, ...]) -> tuple[list[float], list[int]]:
    values, places = [], []
    for start in range(0, len(row), 4):
        for place in sorted(sorted(range(4), key=lambda place: -abs(row[start + place]))[:2]):
            values.append(row[start + place])
            places.append(place)
    return values, places


EXERCISE = Exercise(
    key="ch15.pack",
    title="a row pruned to two of four, and packed",
    language="python",
    name="pack",
    cases=lambda: [Case(name, (list(row),), expected=_packed(row)) for name, row in ROWS],
    hints=(
        "Go through the row four by four: each four decides for itself.",
        "sorted() with a key keeps the order of equals, so the first of them stay in front.",
        "best = sorted(range(4), key=lambda place: -abs(four[place]))[:2], and then its two places in order.",
    ),
    solution="""
def pack(row):
    values, places = [], []
    for start in range(0, len(row), 4):
        four = row[start : start + 4]
        best = sorted(range(4), key=lambda place: -abs(four[place]))[:2]
        for place in sorted(best):
            values.append(four[place])
            places.append(place)
    return values, places
""",
    why="Every four keeps exactly two, so the packed row has half the length wherever its large weights lie, and the "
    "k-th stored value always belongs to four number k // 2. That regularity is what the hardware needs: it can pick "
    "inputs by two bits, where a list of free positions would need whole addresses and would balance badly.",
    stretch="a row and its neighbour could swap columns before pruning, so that large weights do not share a four. How "
    "much size do you keep then?",
    equivalent=(
        (("four = row[start : start + 4]", "four = row[start : start + 5]"), "the fifth is never looked at"),
    ),
    mistakes=(
        Mistake(
            "the whole row decides",
            "Each four keeps exactly two of its own, even where another four has larger ones.",
            ("    half = sorted(sorted(range(len(row)), key=lambda place: -abs(row[place]))[: len(row) // 2])\n"
             "    return [row[place] for place in half], [place % 4 for place in half]",
             "    bound = sorted(abs(each) for each in row)[len(row) // 2]\n"
             "    kept = [place for place, value in enumerate(row) if abs(value) >= bound]\n"
             "    return [row[place] for place in kept], kept"),
        ),
        Mistake(
            "signs decide",
            "A weight of -4 matters more than one of 3: compare absolute values.",
            (("-abs(four[place])", "-four[place]"),),
        ),
        Mistake(
            "the smallest two stay",
            "Pruning drops the two smallest. Sort by size, the largest first.",
            (("-abs(four[place])", "abs(four[place])"),),
        ),
        Mistake(
            "in the order of size",
            "The values stay in the order in which they stood, so that places go up within a four.",
            (("sorted(best)", "best"),),
        ),
        Mistake(
            "places in the row",
            "A place is counted within its four, from 0 to 3: two bits are all that is stored.",
            (("places.append(place)", "places.append(start + place)"),),
        ),
        Mistake(
            "absolute values stored",
            "The size decides which stay; what is stored is the weight with its sign.",
            (("values.append(four[place])", "values.append(abs(four[place]))"),),
        ),
        Mistake(
            "the last of equals stay",
            "Where sizes are equal the first ones stay, not the last.",
            ((BEST, "sorted(range(4), key=lambda place: (-abs(four[place]), -place))[:2]"),),
        ),
        Mistake(
            "only the first four",
            "The row has as many fours as its length allows: go on to its end.",
            (("range(0, len(row), 4)", "range(0, 4, 4)"),),
        ),
        Mistake(
            "one of four",
            "Two of each four stay: not one, and not three.",
            (("[:2]", "[:1]"), ("[:2]", "[:3]")),
        ),
    ),
)  # fmt: skip
