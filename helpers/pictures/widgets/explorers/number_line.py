"""The values that formats of floats have, on a line that can be moved and magnified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from helpers.models.number_formats import FORMATS, Format
from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import dropdown, slider
from helpers.pictures.widgets.explorer import Explorer

POWERS = (-30, 18)
MOST_ROWS = 8


def number_line(formats=FORMATS, *, chosen: str | None = None, power: int = 0, zoom: int = 0) -> Explorer:
    """Rows of representable values around a power of two: one format a row, one of them told of in words.

    `formats`: a mapping from names to formats, of which each is a `Format` or a pair (exponent bits, mantissa bits)
    with infinity and NaN as in IEEE 754; the default is all that Tensor Cores take. The window goes from
    2^power − 2^(power − zoom) to 2^power + 2^(power − zoom). Raises ValueError for more than 8 formats and for bits
    that no format has, TypeError for what is neither.
    """
    found = _formats(formats)
    chosen = next(iter(found)) if chosen is None else chosen
    if len(found) > MOST_ROWS:
        raise ValueError(f"{len(found)} formats: rows have room for {MOST_ROWS}")

    def draw(chosen: str, power: int, zoom: int) -> Picture:
        middle, half = 2.0**power, 2.0 ** (power - zoom)
        rows = list(found.values())
        return plots.number_lines(rows, middle - half, middle + half, at=middle, chosen=chosen)

    controls = {
        "chosen": dropdown("format", chosen, list(found)),
        "power": slider("power of two", power, *POWERS),
        "zoom": slider("zoom", zoom, 0, 14),
    }
    return Explorer("number_line", draw, controls)


def _formats(given) -> dict[str, Format]:
    if isinstance(given, Format):
        return {given.name: given}
    if not isinstance(given, Mapping):
        raise TypeError(f"formats are a mapping such as {{'FP16': (5, 10)}}; this is of type {type(given).__name__}")
    return {name: _format(name, each) for name, each in checked.versions(given, "a format").items()}


def _format(name: str, given) -> Format:
    if isinstance(given, Format):
        return replace(given, name=name)
    if isinstance(given, tuple) and len(given) == 2 and all(isinstance(part, int) for part in given):
        return Format(name, *given)
    raise TypeError(f"{name!r} is a Format or a pair of whole numbers, (exponent bits, mantissa bits); got {given!r}")
