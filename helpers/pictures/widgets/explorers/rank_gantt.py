"""Ranks over time: spans that real ranks recorded, or that a model makes for the values of some controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, suited
from helpers.pictures.widgets.explorer import Explorer


def rank_gantt(
    spans: Callable[..., Sequence] | Mapping[str, Sequence], *, kind: str = "modelled", unit: str = "", **ranges
) -> Explorer:
    """A row for each rank and a box for each span.

    spans: a function that gives the spans (`helpers.ranks.RankSpan`) for the values of its arguments, each of which
    gets a control by `ranges`, as in `widgets.explore`; or a mapping from names to the spans of real
    runs, to choose from.
    kind: where the times come from; unit: see `plots.rank_gantt`. All views have one axis of time where they are chosen
    from a mapping.
    """
    if isinstance(spans, Mapping):
        runs = checked.versions(spans, "the spans of a run")
        if ranges:
            raise TypeError("a mapping of runs has its own control: give no others")
        first = next(iter(runs))
        until = max(each.end for run in runs.values() for each in run)

        def draw(run: str) -> Picture:
            return plots.rank_gantt(runs[run], name=run, kind=kind, until=until, unit=unit)

        return Explorer("rank_gantt", draw, {"run": choice("run", first, runs)})
    make = checked.called("spans", spans)
    controls = {name: suited(name, given) for name, given in ranges.items()}
    if not controls:
        raise TypeError("give a range for each argument of the function, such as slow=(0, 3)")

    def draw_modelled(**values) -> Picture:
        return plots.rank_gantt(make(**values), kind=kind, unit=unit)

    return Explorer("rank_gantt", draw_modelled, controls)
