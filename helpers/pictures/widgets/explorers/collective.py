"""A collective step by step: which chunk goes from which rank to which, and what every rank holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from helpers.pictures.figures import Drawing
from helpers.pictures.plots.collectives import MOST_RANKS, collective_height, collective_moment
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import dropdown, slider
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.ranks.collectives import Steps, ring_steps, star_steps

ALGORITHMS = {"ring": ring_steps, "through rank 0": star_steps}
CAPTION = 62


def collective(
    algorithms: Callable[[int], Steps] | Mapping[str, Callable[[int], Steps]] = ALGORITHMS,
    *,
    ranks: tuple[int, int] = (2, 6),
    start: int = 4,
    step: int = 1,
) -> Explorer:
    """Sliders for the number of ranks and the step, over what each rank holds after it.

    algorithms: a function of the number of ranks that gives the steps, each a list of (source, target, chunk, adds) as
    in `helpers.ranks.ring_steps`, or a mapping from short names to several. A message has as many chunks as there are
    ranks. ranks: the ends of their slider, at most 8; start, step: with how many ranks, and where, it begins.
    """
    several = checked.versions(algorithms, "a function that gives the steps of a collective")
    for name, make in several.items():
        checked.called(f"the algorithm {name!r}", make)
    low, high = checked.bounds("ranks", ranks)
    if low < 2 or high > MOST_RANKS:
        raise ValueError(f"ranks goes from 2 to {MOST_RANKS} at most, not from {low} to {high}")
    first = next(iter(several))
    controls = {
        "ranks": slider("ranks", start, low, high),
        "step": slider("step", step, 0, len(several[first](start))),
    }
    if len(several) > 1:
        controls = {"algorithm": dropdown("algorithm", first, several), **controls}

    def fit() -> None:
        """As many steps as this algorithm has for this number of ranks."""
        make = several[controls["algorithm"].value if "algorithm" in controls else first]
        controls["step"].max = len(make(controls["ranks"].value))

    def draw(ranks: int, step: int, algorithm: str = first) -> Drawing:
        return collective_moment(several[algorithm](ranks), ranks, step, name=f"all-reduce, {algorithm or 'steps'}")

    return Explorer("collective", draw, controls, fit=fit, height=collective_height(high) + CAPTION)
