"""What a cache still holds when it is asked again: requests over time, and bandwidths over the size of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.ticker import FuncFormatter, NullLocator

from helpers.models.cache_model import Asked, share_found
from helpers.pictures.figures import CYCLE, MARKERS, PALETTE, Picture, new, styled
from helpers.pictures.plots.pyramid import bytes_text
from vgpu.hardware.cache_measurements import REREAD, RereadBandwidth

HIT, MISS = PALETTE["blue"], PALETTE["vermilion"]
MOST_REQUESTS = 1200


@styled
def cache_requests(runs: Mapping[str, Sequence[Asked]], nbytes: int) -> Picture:
    """Each request of a warp as a mark, by its number and by where it falls in its array: found in the cache, or not.

    runs: by name, what `helpers.models.cache_model.requests` tells of a cache of `nbytes`; one panel each. A request
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


@styled
def reread_bandwidth(measured: Sequence[RereadBandwidth] = REREAD) -> Picture:
    """Published bandwidths at which GPUs read the same bytes over and over, with a line where each one's L2 ends."""
    figure, axes = new("wide")
    for number, row in enumerate(measured):
        colour = CYCLE[number]
        sizes = [nbytes / 2**20 for nbytes in row.nbytes]
        axes.plot(sizes, [rate / 1e12 for rate in row.rates], color=colour, marker=MARKERS[number], ms=4.5,
                  label=f"{row.name} (measured, published)")  # fmt: skip
        axes.axvline(row.l2_bytes / 2**20, color=colour, lw=1, ls=(":", "--")[number % 2],
                     label=f"L2 of {row.name}: {bytes_text(row.l2_bytes)}")  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda mib, _: f"{mib:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="data that are read over and over, MiB", ylabel="read, TB/s", ylim=(0, None))
    axes.legend(fontsize=8.5)
    said = "; ".join(
        f"{row.name}: {row.rates[0] / 1e12:.2g} TB/s over {bytes_text(row.nbytes[0])}, "
        f"{row.rates[-1] / 1e12:.2g} TB/s over {bytes_text(row.nbytes[-1])}, with an L2 of {bytes_text(row.l2_bytes)}"
        for row in measured
    )
    return Picture(figure, f"Measured and published: {said}.")
