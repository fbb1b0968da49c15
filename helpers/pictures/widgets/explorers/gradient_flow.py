"""How far back a recurrent cell can learn: gradient norms against steps back, as a setting of each cell changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.torch.state_gradients import state_gradients

STEPS = 80


def gradient_flow(
    cells: Mapping[str, tuple[Callable[[float], object], str, Sequence[float]]],
    *,
    steps: int = STEPS,
    start: Mapping[str, float] | None = None,
) -> Explorer:
    """A slider for a setting of each cell; its curve thick, and thin behind it those of its other settings.

    cells: by name a function that makes the cell for a value, what that value is called, and the values to choose
    from: `{"RNN": (rnn, "spectral radius", (0.5, 0.9, 1.0))}`. A cell is what PyTorch calls one: `cell(x, state)` gives
    the next state, `state` is None at first, `cell.input_size` says how wide x is. `steps`: how many it takes, at
    least 2. `start`: the value to begin with, by name, else the middle one.
    """
    cells = checked.versions(cells, "cells by their names")
    if steps < 2:
        raise ValueError(f"a gradient goes back over at least 2 steps, not {steps}")
    controls, begin = {}, dict(start or {})
    for name, row in cells.items():
        if not isinstance(row, tuple) or len(row) != 3:
            raise TypeError(f"{name!r} wants three things: what makes the cell, a word, and a list of values")
        checked.called(f"the cell of {name!r}", row[0])
        values = checked.options(row[1], row[2])
        controls[name] = choice(f"{name}: {row[1]}", begin.get(name, values[len(values) // 2]), values)

    @cache
    def norms(name: str, value: float) -> list[float]:
        return state_gradients(cells[name][0], value, steps)

    def draw(**chosen: float) -> Picture:
        curves = {f"{name}, {cells[name][1]} {value:g}": norms(name, value) for name, value in chosen.items()}
        behind = {
            f"{name}, {cells[name][1]} {value:g}": [norms(name, other) for other in cells[name][2]]
            for name, value in chosen.items()
        }
        return plots.gradient_curves(curves, others=behind)

    return Explorer("gradient_flow", draw, controls)
