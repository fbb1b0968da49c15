"""The sectors of a naive product's requests, from the strides of its factors."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = (
    # which index x chooses, strides of a, strides of b: in floats, one row further and one column further
    ("row", (256, 1), (256, 1)),
    ("column", (256, 1), (256, 1)),
    ("row", (1, 256), (256, 1)),
    ("column", (256, 1), (1, 256)),
    ("row", (1, 256), (1, 256)),
    ("column", (1, 512), (1, 512)),
    ("row", (3, 1), (90, 1)),
    ("column", (70, 1), (180, 2)),
    ("column", (70, 1), (90, 0)),
    ("row", (8, 1), (8, 1)),
    ("row", (7, 1), (7, 1)),
)


def _average(x: str, a: tuple[int, int], b: tuple[int, int]) -> float:
    apart = (a[0], 0) if x == "row" else (0, b[1])
    return sum(len({4 * lane * each // 32 for lane in range(32)}) for each in apart) / 2


def _case(x: str, a: tuple[int, int], b: tuple[int, int]) -> Case:
    return Case(f"x chooses the {x}, strides {a} and {b}", (x, a, b), expected=_average(x, a, b))


APART = "for lane in range(32):\n            touched.add(lane * distance * 4 // 32)"

EXERCISE = Exercise(
    key="ch13.sectors",
    title="sectors a request, from the strides",
    language="python",
    name="sectors",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "Neighbouring lanes differ in x alone. Which index of a, and which of b, does x change?",
        "If x chooses the row, lanes are a_strides[0] floats apart in a, and all at the same place in b.",
        "For each factor, put lane * distance * 4 // 32 of all 32 lanes into a set, and count what is in it.",
    ),
    solution="""
def sectors(x, a_strides, b_strides):
    if x == "row":
        distances = [a_strides[0], 0]
    else:
        distances = [0, b_strides[1]]
    total = 0
    for distance in distances:
        touched = set()
        for lane in range(32):
            touched.add(lane * distance * 4 // 32)
        total += len(touched)
    return total / 2
""",
    why="In one request all lanes have the same k, so what matters is how far apart x puts them. The "
    "transposed weights of a linear layer "
    "have the strides (1, inputs): then x as the column gives 16.5 and x as the row gives 16.5 as "
    "well. No choice of x helps there, and that is one more reason for tiles.",
    stretch="which order of the loops would make the transposed product coalesced without shared memory?",
    mistakes=(
        Mistake(
            "row and column are swapped",
            "If x chooses the row, the lanes have different rows of a and the same element of b.",
            (('x == "row"', 'x != "row"'),),
        ),
        Mistake(
            "the other stride",
            "x as the row goes down in a, by its row stride; x as the column goes right in b, by its column stride.",
            (("a_strides[0]", "a_strides[1]"), ("b_strides[1]", "b_strides[0]"),
             (("a_strides[0]", "a_strides[1]"), ("b_strides[1]", "b_strides[0]"))),
        ),
        Mistake(
            "floats are not bytes",
            "Strides count floats, and a sector has 32 bytes: multiply by 4 before you divide by 32.",
            (("distance * 4 // 32", "distance // 32"),),
        ),
        Mistake(
            "the sum of both requests",
            "The average over the two requests is asked for: the one for a and the one for b.",
            (("total / 2", "total"), ("total / 2", "total / 32")),
        ),
        Mistake(
            "the same element takes no sector",
            "A request whose lanes all want one element still takes one sector.",
            (("        total += len(touched)", "        if distance > 0:\n            total += len(touched)"),),
        ),
        Mistake(
            "lanes are counted, not sectors",
            "Lanes that meet in one sector share it: count the distinct sectors.",
            (("total += len(touched)", "total += 32 if distance > 0 else 1"),),
        ),
        Mistake(
            "a warp has 32 lanes",
            "All 32 lanes of the warp take part in a request, from lane 0 to lane 31.",
            (("range(32)", "range(16)"), ("range(32)", "range(31)")),
        ),
    ),
)  # fmt: skip
