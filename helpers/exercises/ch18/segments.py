"""Into how many segments to cut a network so that checkpoints keep the least."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

GIVEN = (  # layers, MiB inside each, MiB of what goes from one to the next
    (1, 5, 5),
    (2, 8, 1),
    (16, 4, 4),
    (16, 16, 1),
    (12, 3, 12),
    (24, 10, 2),
    (7, 6, 2),
    (9, 5, 5),
    (10, 2, 3),
)


def _kept(layers: int, inside: int, between: int, count: int) -> int:
    return count * between + -(-layers // count) * inside


def _case(layers: int, inside: int, between: int) -> Case:
    least, count = min((_kept(layers, inside, between, count), count) for count in range(1, layers + 1))
    name = f"{plural(layers, 'layer')}, {inside} MiB inside each, {between} MiB between them"
    return Case(name, (layers, inside, between), expected=(count, least))


EXERCISE = Exercise(
    key="ch18.segments",
    title="where to put the checkpoints",
    language="python",
    name="segments",
    cases=lambda: [_case(*row) for row in GIVEN],
    hints=(
        "For one number of segments: what is kept all the time, and what exists only while one segment goes backward?",
        "Each segment keeps its input, which is `between` MiB. The longest segment has layers / count layers, rounded "
        "up, and each of them has `inside` MiB while it goes backward.",
        "Try every count from 1 to layers and keep the one with the smallest count * between + "
        "((layers + count - 1) // count) * inside; on a tie the smaller count. Return both.",
    ),
    solution="""
def segments(layers, inside, between):
    best, least = 1, between + layers * inside
    for count in range(2, layers + 1):
        longest = (layers + count - 1) // count
        kept = count * between + longest * inside
        if kept < least:
            best, least = count, kept
    return best, least
""",
    why="The first part grows with the number of segments and the second one shrinks. The sum of c · between and "
    "layers / c · inside is least where both are equal, so c is the square root of layers · inside / between. With "
    "equal sizes that is the square root of the number of layers, and what is kept grows like it as well.",
    stretch="give the layers different sizes, and cut so that the largest segment is as small as possible.",
    equivalent=(
        (("range(2, layers + 1)", "range(1, layers + 1)"), "one segment is tried twice"),
        (("range(2, layers + 1)", "range(2, layers + 2)"), "more segments than layers are never better"),
    ),
    mistakes=(
        Mistake(
            "the inputs of the segments are free",
            "Each segment keeps its input until it goes backward: count times `between`.",
            (("count * between + ", ""), (("between + layers", "layers"), ("count * between + ", ""))),
        ),
        Mistake(
            "one input for all segments",
            "Every segment keeps an input of its own: count of them, not one.",
            (("count * between", "between"),),
        ),
        Mistake(
            "all segments are recomputed at once",
            "Only one segment goes backward at a time. What counts is the longest of them.",
            (("longest * inside", "layers * inside"),),
        ),
        Mistake(
            "the longest segment is rounded down",
            "Five layers in two segments are three and two: the longest has three. Round up.",
            (("(layers + count - 1) // count", "layers // count"),),
        ),
        Mistake(
            "sizes are left out",
            "The square root of the number of layers is right for equal sizes only. Use `inside` and `between`.",
            (
                "    count = round(layers**0.5)\n"
                "    return count, count * between + (layers + count - 1) // count * inside",
            ),
        ),
        Mistake(
            "on a tie the larger count",
            "More segments mean more to manage for the same memory: on a tie take the smaller number.",
            (("kept < least", "kept <= least"),),
        ),
        Mistake(
            "inside and between are mixed up",
            "Look at the two sizes again: `between` is kept once a segment, `inside` once for each of its layers.",
            ((("between + layers * inside", "inside + layers * between"),
              ("count * between + longest * inside", "count * inside + longest * between")),),
        ),
        Mistake(
            "the number alone",
            "Return two numbers: how many segments, and the MiB that are needed with them.",
            (("return best, least", "return best"),),
        ),
        Mistake(
            "one segment a layer is not tried",
            "Each layer may be a segment of its own: try all counts up to `layers`.",
            (("range(2, layers + 1)", "range(2, layers)"),),
        ),
    ),
)  # fmt: skip
