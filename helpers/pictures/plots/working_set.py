"""What a cache still holds when it is asked again: requests over time, and bandwidths over the size of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import bytes_text
from helpers.results.cache_model import Asked, share_found

HIT, MISS = PALETTE["blue"], PALETTE["vermilion"]
MOST_REQUESTS = 1200


@styled
def cache_requests(runs: Mapping[str, Sequence[Asked]], nbytes: int) -> Picture:
    """Each request of a warp as a mark, by its number and by where it falls in its array: found in the cache, or not.

    runs: by name, what `helpers.results.cache_model.requests` tells of a cache of `nbytes`; one panel each. A request
    of which some sectors were found and some were not counts as not found. Raises ValueError without a request, or
    for more than `MOST_REQUESTS` of them.
    """
    for name, asked in runs.items():
        if not 0 < len(asked) <= MOST_REQUESTS:
            who = name or "the kernel"
            raise ValueError(f"{who} made {len(asked):,} requests; 1 to {MOST_REQUESTS:,} can be drawn")
    figure, axes = new("wide", layout=None, ncols=len(runs), sharey=True, squeeze=False)
    figure.subplots_adjust(left=0.08, right=0.985, top=0.82, bottom=0.15, wspace=0.08)
    highest = max(each.first for asked in runs.values() for each in asked)
    top = max(1.06 * highest, 1.12 * nbytes) / 1024
    for at, (panel, (name, asked)) in enumerate(zip(axes[0], runs.items(), strict=True)):
        _panel(panel, asked, nbytes, len(runs))
        panel.set(xlim=(-0.03 * len(asked), 1.03 * len(asked)), ylim=(-0.04 * top, top))
        panel.set_title(_title(name, asked), fontsize=9.5)
        panel.set_xlabel("loads of the warp, in order of time", fontsize=8.5)
        if at == 0:
            panel.set_ylabel("place in the array, KiB")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper left", bbox_to_anchor=(0.07, 1.005), ncols=3, fontsize=8.5,
                  handletextpad=0.4, columnspacing=1.4)  # fmt: skip
    return Picture(figure, _requests_finding(runs, nbytes))


def _panel(panel, asked: Sequence[Asked], nbytes: int, panels: int) -> None:
    panel.axhspan(0, nbytes / 1024, color=PALETTE["mist"], lw=0, label="as many bytes as the cache holds")
    size = max(1.5, min(5.0, 1000 / panels / len(asked)))
    found = [(number, each) for number, each in enumerate(asked) if each.hits == each.sectors]
    missed = [(number, each) for number, each in enumerate(asked) if each.hits < each.sectors]
    for marks, marker, colour, words in (
        (found, "s", HIT, "found in the cache"), (missed, "x", MISS, "not found: fetched"),
    ):  # fmt: skip
        places = [each.first / 1024 for _, each in marks]
        panel.plot([number for number, _ in marks], places, ls="", marker=marker, ms=size, mew=1, color=colour,
                   label=words)  # fmt: skip


def _title(name: str, asked: Sequence[Asked]) -> str:
    said = f"{share_found(tuple(asked)):.0%} found"
    return f"{name}: {said}" if name else said


def _requests_finding(runs: Mapping[str, Sequence[Asked]], nbytes: int) -> str:
    def told(name: str, asked: Sequence[Asked]) -> str:
        said = f"{sum(each.hits for each in asked):,} of {sum(each.sectors for each in asked):,} sectors are found"
        return f"{name}: {said}" if name else said

    return f"A cache of {bytes_text(nbytes)} (modelled): " + "; ".join(told(*each) for each in runs.items()) + "."
