"""How many modes a generator's points reach, and how many of its points are anywhere near one."""

from __future__ import annotations

import math

from helpers.checking.exercise import Case, Exercise, Mistake

SQUARE = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
PAIR = ((0.0, 0.0), (2.0, 0.0))
AROUND = ((1.0, 1.25), (1.25, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -0.75), (-1.25, -1.0))
ROWS = (
    ("one point on one mode", [(1.0, 1.0)], SQUARE, 0.5, 1),
    ("no point near any", [(0.0, 0.0), (3.0, 3.0), (0.0, 1.0)], SQUARE, 0.5, 1),
    ("all modes, twice at most", list(AROUND), SQUARE, 0.5, 1),
    ("at least two points a mode", list(AROUND), SQUARE, 0.5, 2),
    ("everything on one mode", [(1.0, -1.0)] * 7, SQUARE, 0.25, 3),
    ("a corner of the square is far", [(1.375, 1.375), (-1.0, -1.0)], SQUARE, 0.5, 1),
    ("negative differences are distances too", [(-3.0, -3.0), (0.0, 0.25), (2.0, 0.5)], PAIR, 1.0, 1),
    ("midway between two, out of reach", [(1.0, 0.0), (0.5, 0.0)], PAIR, 0.75, 1),
    ("within reach of both modes", [(1.0, 0.0), (1.25, 0.0), (9.0, 9.0), (0.0, 9.0)], PAIR, 1.5, 2),
    ("exactly as far as the reach", [(0.0, 1.0), (2.0, 0.5), (0.0, -1.0)], PAIR, 1.0, 1),
    ("beyond one, and nearer to the other", [(1.25, 0.0), (1.5, 0.0), (-0.5, 0.0)], PAIR, 1.0, 2),
)


def _case(name, points, modes, reach, least) -> Case:
    counts = [sum(math.dist(point, mode) < reach for point in points) for mode in modes]
    good = sum(any(math.dist(point, mode) < reach for mode in modes) for point in points)
    wanted = (sum(count >= least for count in counts), good / len(points))
    return Case(name, ([tuple(p) for p in points], list(modes), reach, least), expected=wanted)


EXERCISE = Exercise(
    key="ch21.modes",
    title="modes reached, and the share of good points",
    language="python",
    name="coverage",
    cases=lambda: [_case(*row) for row in ROWS],
    hints=(
        "Two questions: from the side of each mode, how many points are near? From the side of each point, is any "
        "mode near?",
        "math.dist(point, mode) is the distance of two pairs of numbers. Count the points within reach of each mode.",
        "counts = [sum(math.dist(p, m) < reach for p in points) for m in modes]; reached is how many of them are at "
        "least `least`.",
    ),
    solution="""
import math


def coverage(points, modes, reach, least):
    reached = 0
    for mode in modes:
        near = sum(math.dist(point, mode) < reach for point in points)
        if near >= least:
            reached += 1
    good = sum(any(math.dist(point, mode) < reach for mode in modes) for point in points)
    return reached, good / len(points)
""",
    why="The two numbers catch two different failures. A generator that makes one perfect point reaches one mode and "
    "has a share of 1: that is collapse. One that scatters its points everywhere reaches all modes and has a small "
    "share. Only both together say that the distribution was learnt.",
    stretch="let it also tell the smallest count among the modes: a generator may reach all and still starve one.",
    mistakes=(
        Mistake(
            "points are counted, not modes",
            "Seven points on one mode reach one mode. Count first for each mode, and then how many modes have enough.",
            (("reached += 1", "reached += near"),),
        ),
        Mistake(
            "one point is taken for enough",
            "A mode counts where at least `least` points are near. A single stray point may lie anywhere.",
            (("near >= least", "near >= 1"), ("near >= least", "near > 0")),
        ),
        Mistake(
            "at least is not more than",
            "A mode with exactly `least` points near is reached: at least means >=.",
            (("near >= least", "near > least"),),
        ),
        Mistake(
            "that is a square, and no circle",
            "Distance is the square root of the sum of squares. A point may be near in x and in y, and still be out of "
            "reach.",
            (
                ("math.dist(point, mode) < reach",
                 "max(abs(point[0] - mode[0]), abs(point[1] - mode[1])) < reach"),
                ("math.dist(point, mode) < reach", "abs(point[0] - mode[0]) < reach"),
            ),
        ),
        Mistake(
            "the distance lost its root, or its sign",
            "Compare the distance with `reach`, not its square, and not a difference that may be negative.",
            (
                ("math.dist(point, mode) < reach", "math.dist(point, mode) ** 2 < reach"),
                ("math.dist(point, mode) < reach", "point[0] - mode[0] + point[1] - mode[1] < reach"),
            ),
        ),
        Mistake(
            "the share is of modes",
            "The second number is a share of the points: those within reach of any mode, over all points.",
            (("good / len(points)", "reached / len(modes)"), ("good / len(points)", "good / len(modes)")),
        ),
        Mistake(
            "a number of points, and no share",
            "A share lies between 0 and 1: divide by the number of points.",
            (("good / len(points)", "good"), ("good / len(points)", "100 * good / len(points)")),
        ),
        Mistake(
            "a point near two modes counts twice",
            "A point is good or it is not, however many modes are near: ask whether *any* is.",
            (("sum(any(math.dist(point, mode) < reach for mode in modes) for point in points)",
              "sum(math.dist(point, mode) < reach for mode in modes for point in points)"),),
        ),
    ),
)  # fmt: skip
