"""A network's gradients by their size, and which of them a format loses at a loss scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np

from helpers.models.number_formats import FORMATS
from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown
from helpers.pictures.widgets.explorer import Explorer

SCALES = [(f"2^{power}", 2.0**power) for power in range(0, 41)]


def gradients(given, *, format: str = "FP16", loss_scale: float = 1.0) -> Explorer:
    """Bars of gradients by power of two over the zones of a format: those that become zero, and those that overflow.

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


def _sizes(name: str, given) -> np.ndarray:
    parts = [np.abs(part).ravel() for part in _arrays(given)]
    sizes = np.concatenate(parts) if parts else np.empty(0)
    who = f"{name!r}" if name else "this"
    if not (sizes > 0).any():
        raise ValueError(f"{who} has no gradient other than zero: call backward() on a loss first, and not zero_grad()")
    if not np.isfinite(sizes).all():
        raise ValueError(f"{who} has gradients that are infinite or NaN: they have no place on the axis")
    return sizes


def _arrays(given) -> Iterable[np.ndarray]:
    """All numbers of what is given, in float64."""
    if hasattr(given, "parameters"):
        return [_array(each.grad) for each in given.parameters() if each.grad is not None]
    if isinstance(given, list | tuple) or (isinstance(given, Iterable) and not hasattr(given, "shape")):
        return [_array(each) for each in given]
    return [_array(given)]


def _array(given) -> np.ndarray:
    if isinstance(given, Mapping | str):
        raise TypeError(
            f"gradients are numbers, in a tensor, an array or a list; this is of type {type(given).__name__}"
        )
    if hasattr(given, "detach"):
        given = given.detach().double().cpu().numpy()
    return np.asarray(given, np.float64)
