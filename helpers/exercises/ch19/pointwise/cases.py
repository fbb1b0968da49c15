from __future__ import annotations

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import sectors_per_request

BLOCK = (32, 4)


def _case(channels: int, filters: int, pixels: int) -> Case:
    image, weight = numbers((channels, pixels), seed=pixels), numbers((filters, channels), seed=filters)
    longest = max(filters, pixels)
    return Case(
        f"{plural(channels, 'channel')}, {plural(filters, 'filter')}, {plural(pixels, 'pixel')}",
        (image, weight, Out(weight @ image)),
        (cover(longest, BLOCK[0]), cover(longest, BLOCK[1])),
        BLOCK,
    )


SHAPES = ((1, 1, 1), (3, 2, 49), (5, 37, 4), (16, 8, 33), (7, 3, 100))


def cases() -> list[Case]:
    return [_case(*shape) for shape in SHAPES]


def measured() -> Case:
    return _case(8, 64, 64)


MEASURES = {
    "sectors per load request": sectors_per_request("read"),
    "sectors per store request": sectors_per_request("write"),
}
