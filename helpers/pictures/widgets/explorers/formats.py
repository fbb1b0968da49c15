"""Explorers of number formats: representable values, and gradients in range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

import numpy as np

from helpers.models.number_formats import FORMATS, Format
from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown, slider
from helpers.pictures.widgets.explorer import Explorer

POWERS = (-30, 18)
MOST_ROWS = 8


def number_line(
    formats: Mapping[str, Format | tuple[int, int]] | Format = FORMATS, *, chosen: str | None = None, power: int = 0,
    zoom: int = 0,
) -> Explorer:  # fmt: skip
    """The representable values around a power of two, with one row per format.

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


def _formats(given: object) -> dict[str, Format]:
    if isinstance(given, Format):
        return {given.name: given}
    if not isinstance(given, Mapping):
        raise TypeError(f"formats are a mapping such as {{'FP16': (5, 10)}}; this is of type {type(given).__name__}")
    return {name: _format(name, each) for name, each in checked.versions(given, "a format").items()}


def _format(name: str, given: object) -> Format:
    if isinstance(given, Format):
        return replace(given, name=name)
    if isinstance(given, tuple) and len(given) == 2 and all(isinstance(part, int) for part in given):
        return Format(name, *given)
    raise TypeError(f"{name!r} is a Format or a pair of whole numbers, (exponent bits, mantissa bits); got {given!r}")


SCALES = [(f"2^{power}", 2.0**power) for power in range(0, 41)]


def gradients(given: object, *, format: str = "FP16", loss_scale: float = 1.0) -> Explorer:
    """A histogram of gradients by power of two: those that underflow to zero, and those that overflow.

    `given`: a network after `backward()`, whose parameters have their `.grad`; or numbers, as a tensor, an array or a
    list of these; or a mapping from names to several of them, for a list to choose from. Take the gradients in FP32, as
    the picture rounds them itself. Raises ValueError where there are none, or where some are not finite.
    """
    several = {"": given} if isinstance(given, list | tuple) else given  # a list is one network's
    named = checked.versions(several, "a network after backward(), or its gradients")
    found = {name: _sizes(name, each) for name, each in named.items()}
    controls = {}
    if len(found) > 1:
        controls["which"] = dropdown("gradients of", next(iter(found)), list(found))
    controls["format"] = dropdown("format", format, FORMATS)
    controls["loss_scale"] = choice("loss scale", float(loss_scale), SCALES)

    @cache
    def bars(which: str) -> tuple[np.ndarray, np.ndarray, int]:
        sizes = found[which]
        powers, counts = np.unique(np.frexp(sizes[sizes > 0])[1] - 1, return_counts=True)
        return powers, counts, int((sizes == 0).sum())

    def draw(format: str, loss_scale: float, which: str = next(iter(found))) -> Picture:
        return plots.gradient_histogram(*bars(which), FORMATS[format], loss_scale, name=which)

    return Explorer("gradients", draw, controls)


def _sizes(name: str, given: object) -> np.ndarray:
    parts = [np.abs(part).ravel() for part in _arrays(given)]
    sizes = np.concatenate(parts) if parts else np.empty(0)
    who = f"{name!r}" if name else "this"
    if not (sizes > 0).any():
        raise ValueError(f"{who} has no gradient other than zero: call backward() on a loss first, and not zero_grad()")
    if not np.isfinite(sizes).all():
        raise ValueError(f"{who} has gradients that are infinite or NaN: they have no place on the axis")
    return sizes


def _arrays(given: object) -> Iterable[np.ndarray]:
    """All numbers of what is given, in float64."""
    if hasattr(given, "parameters"):
        return [_array(each.grad) for each in given.parameters() if each.grad is not None]
    if isinstance(given, list | tuple) or (isinstance(given, Iterable) and not hasattr(given, "shape")):
        return [_array(each) for each in given]
    return [_array(given)]


def _array(given: object) -> np.ndarray:
    if isinstance(given, Mapping | str):
        raise TypeError(
            f"gradients are numbers, in a tensor, an array or a list; this is of type {type(given).__name__}"
        )
    if hasattr(given, "detach"):
        given = given.detach().double().cpu().numpy()
    return np.asarray(given, np.float64)
