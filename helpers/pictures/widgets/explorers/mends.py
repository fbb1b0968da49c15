"""A log of changes to a training step: each before and after, to choose from."""

from __future__ import annotations

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import dropdown
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.step_log import StepLog

HEIGHT = 560


def mends(log: StepLog, *, before: str | None = None, after: str | None = None) -> Explorer:
    """Two choices of versions over their lanes of time and their bars: any two of a log's.

    log: a `StepLog` with at least two versions; before, after: names to begin with, else the first and the last that
    was kept. TypeError for what is no log, ValueError for fewer versions.
    """
    if not isinstance(log, StepLog):
        raise TypeError(f"mends takes a StepLog, with at least two versions; this is of type {type(log).__name__}")
    names = list(log)
    if len(names) < 2:
        raise ValueError(f"before and after are two versions, and this log has {len(names)}: log.run(name, program)")
    kept = [name for name in names if name not in log.taken_back]
    controls = {
        "before": dropdown("before", checked.among("before", before or names[0], names), names),
        "after": dropdown("after", checked.among("after", after or kept[-1], names), names),
    }

    def draw(before: str, after: str) -> Picture:
        return plots.mend_lanes(log[before], log[after])

    return Explorer("mends", draw, controls, height=HEIGHT)
