"""From data to places in the picture: where a mark that can be dragged stands at each value of a control."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.pictures.figures import Track

_POINTS_PER_INCH = 72


def track(
    axes,
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
    figure = axes.figure

    def point(place: tuple[float, float]) -> tuple[float, float]:
        x, y = axes.transData.transform(place) * _POINTS_PER_INCH / figure.dpi
        return float(x), figure.get_figheight() * _POINTS_PER_INCH - float(y)

    points = {value: point(place) for value, place in places.items()}
    if line is None:
        return Track(points, along)
    x, y = points[at]
    ends = tuple((end[0] - x, end[1] - y) for end in map(point, line))
    return Track(points, along, ends)
