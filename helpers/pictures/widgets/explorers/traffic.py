"""The bytes that a kernel makes memory move, as the width of its tile changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.plots.memory import load_traffic
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.ladder import Launch


def traffic(launch: Callable[..., Launch], **choices: Sequence[int]) -> Explorer:
    """Bytes that lanes ask for, that sectors bring, and that a perfect cache would fetch, for one launch.

    `launch(**values)` gives the `Launch` for the values of the controls; each of `choices` is a slider over those
    values: `traffic(lambda tile: Launch(...), tile=(2, 4, 8, 16, 32))`. All of them are profiled beforehand, so that
    the axis can hold the largest.
    """
    checked.called("launch", launch)
    choices = {name: checked.options(name, values) for name, values in choices.items()}
    if not choices:
        raise ValueError("traffic takes at least one control, such as tile=(4, 8, 16): its values are tried in turn")
    combinations = [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
    profiles = {tuple(each.values()): _launched(launch(**each)).profile() for each in combinations}
    scale = max(max(load_traffic(each).values()) for each in profiles.values())
    if not scale:
        raise ValueError("this kernel loads nothing from global memory: there is no traffic to compare")

    def draw(**values: int) -> Picture:
        said = ", ".join(f"{name} {value}" for name, value in values.items())
        return plots.traffic(profiles[tuple(values.values())], prefix=f"{said}: ", scale=scale)

    return Explorer("traffic", draw, {name: choice(name, values[0], values) for name, values in choices.items()})


def _launched(made) -> Launch:
    if not isinstance(made, Launch):
        raise TypeError(f"launch gives a Launch(kernel, grid, block, args) for its values, not a {type(made).__name__}")
    return made
