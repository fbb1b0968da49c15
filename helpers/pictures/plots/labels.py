"""Places in a picture: labels beside marks without overlaps, and where a mark can be dragged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.pictures.figures import Track

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in points."""
_DISTANCES = (1.0, 1.6, 2.4, 3.4, 4.6, 6.0, 7.5, 9.0)
_ANGLES = tuple(math.radians(degrees) for degrees in (60, 120, 300, 240, 0, 180, 90, 270, 30, 150, 330, 210))


def overlap(one: Box, other: Box) -> float:
    """The area that two boxes share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, wide) * max(0.0, high)


def around(place: tuple[float, float], size: tuple[float, float]) -> Box:
    """The box of that width and height around a place."""
    (x, y), (wide, high) = place, size
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2


def spread(
    marks: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    within: Box,
    *,
    mark: float = 8.0,
    taken: Sequence[Box] = (),
) -> list[tuple[float, float]]:
    """The centre of a label for each mark, such that no two labels overlap, nor a label a mark, if there is room.

    marks: their places; sizes: width and height of each label; within: where labels may be; mark: width of a mark;
    taken: boxes that hold something else. All in points. The same marks give the same places.
    """
    avoid = [around(place, (mark, mark)) for place in marks] + list(taken)
    centres: list[tuple[float, float]] = []
    for (x, y), size in zip(marks, sizes, strict=True):
        reach_x, reach_y = (mark + size[0]) / 2 + 1, (mark + size[1]) / 2 + 1
        best, least = (x, y), math.inf
        for distance in _DISTANCES:
            for angle in _ANGLES:
                place = (x + distance * reach_x * math.cos(angle), y + distance * reach_y * math.sin(angle))
                box = around(place, size)
                outside = size[0] * size[1] - overlap(box, within)
                cost = sum(overlap(box, other) for other in avoid) + 4 * outside
                if cost < least - 1e-9:
                    best, least = place, cost
            if least <= 1e-9:
                break
        centres.append(best)
        avoid.append(around(best, size))
    return centres


_POINTS_PER_INCH = 72


def track(
    axes: Axes,
    places: Mapping[object, tuple[float, float]],
    along: str = "x",
    *,
    line: tuple[tuple[float, float], tuple[float, float]] | None = None,
    at: object = None,
) -> Track:
    """A track in the data of matplotlib axes, linear or logarithmic, whose limits and position are final.

    places: x and y by value of the control, in data; along: the way the pointer counts, "x" or "y"; line: two ends, in
    data, of a line that goes with the mark and can be taken as well, as it is while the control holds `at`.
    """
    figure = axes.figure.get_figure(root=True)

    def point(place: tuple[float, float]) -> tuple[float, float]:
        x, y = axes.transData.transform(place) * _POINTS_PER_INCH / figure.dpi
        return float(x), figure.get_figheight() * _POINTS_PER_INCH - float(y)

    points = {value: point(place) for value, place in places.items()}
    if line is None:
        return Track(points, along)
    x, y = points[at]
    one, other = ((end_x - x, end_y - y) for end_x, end_y in map(point, line))
    return Track(points, along, (one, other))
