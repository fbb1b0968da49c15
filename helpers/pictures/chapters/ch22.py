"""Pictures of chapter 22: kinds of parallelism across ranks, loss curves of parallel runs, buckets and layouts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.pictures.figures import CYCLE, DASHES, PALETTE, Drawing, Picture, new, styled, subplots
from helpers.pictures.plots.common import one_patch, shade
from helpers.pictures.plots.templates import from_template
from helpers.results.ranks.layout import Estimate
from vgpu.base.words import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LAYERS = 4
Part = tuple[float, float]
"""From where to where a rank has its part, as shares of the whole."""


def _slice(rank: int, ranks: int) -> Part:
    return rank / ranks, (rank + 1) / ranks


# By kind: which part of layer `layer` a rank holds, which part of the batch it works on, and a word about what travels.
KINDS: dict[str, tuple[Callable[[int, int, int], Part], Callable[[int, int], Part], str]] = {
    "data (DDP)": (lambda layer, rank, ranks: (0, 1), _slice, "gradients are summed"),
    "sharded (FSDP)": (
        lambda layer, rank, ranks: _slice(rank, ranks), _slice, "weights are gathered when needed, gradients scattered"
    ),
    "tensor": (
        lambda layer, rank, ranks: _slice(rank, ranks), lambda rank, ranks: (0, 1),
        "activations are summed in each layer",
    ),
    "pipeline": (
        lambda layer, rank, ranks: (0, 1) if layer * ranks // LAYERS == rank else (0, 0),
        lambda rank, ranks: (0, 1), "activations go from stage to stage",
    ),
}  # fmt: skip


def parallel_kinds(kinds: Sequence[str] = tuple(KINDS), *, ranks: int = 4) -> Drawing:
    """For each kind of parallelism, the weights of each layer that each rank keeps, and its part of the batch."""
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise ValueError(f"no kind called {unknown[0]!r}: there are {', '.join(KINDS)}")
    if LAYERS % ranks:
        raise ValueError(f"{LAYERS} layers are drawn: give 1, 2 or 4 ranks, not {ranks}")
    panels = [
        (kind, word, [([weights(layer, rank, ranks) for layer in range(LAYERS)], batch(rank, ranks))
                      for rank in range(ranks)])
        for kind in kinds for weights, batch, word in [KINDS[kind]]
    ]  # fmt: skip
    said = "; ".join(f"{kind}: {KINDS[kind][2]}" for kind in kinds)
    finding = f"Four ways to share {plural(LAYERS, 'layer')} and a batch among {ranks} ranks. {said}."
    return from_template("parallel_kinds", finding, panels=panels, column=406 / ranks)


MOST_CURVES = 8
ACROSS = 4


def _power(difference: float) -> str:
    """The power of ten that a difference stays below: its digits are the processor's affair."""
    return "0" if difference == 0 else f"1e{math.floor(math.log10(difference)) + 1}"


@styled
def curve_panels(runs: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Picture:
    """A small panel for each run: its loss in each step, drawn on top of one process's, (losses, reference).

    The titles say which power of ten the largest difference stays below.
    """
    if not 1 <= len(runs) <= MOST_CURVES:
        raise ValueError(f"this draws 1 to {MOST_CURVES} runs, not {len(runs)}")
    columns = min(ACROSS, len(runs))
    rows = math.ceil(len(runs) / columns)
    figure, axes = subplots(rows, columns, sharey=True, left=0.08, right=0.985, top=0.8 if rows == 1 else 0.86,
                            bottom=0.15, hspace=0.85, wspace=0.14)  # fmt: skip
    far = 0.0
    for number, panel in enumerate(axes.flat):
        if number >= len(runs):
            panel.set_visible(False)
            continue
        name, (losses, reference) = list(runs.items())[number]
        difference = max(abs(a - b) for a, b in zip(losses, reference, strict=True))
        far = max(far, difference)
        panel.plot(reference, color=shade(PALETTE["ink"], 0.78), lw=5, solid_capstyle="round")
        panel.plot(losses, color=CYCLE[0], lw=1.4, ls="--")
        words = f"less than {_power(difference)} apart" if difference else "equal"
        panel.set_title(f"{name}\n{words}", fontsize=8.5, loc="left")
        panel.tick_params(labelsize=8)
        if number // columns == rows - 1 or number + columns >= len(runs):
            panel.set_xlabel("step", fontsize=9)
        if number % columns == 0:
            panel.set_ylabel("loss", fontsize=9)
    words = f"{plural(len(runs), 'loss curve')} ({'; '.join(runs)}): each dashed line lies on the grey one"
    return Picture(figure, f"{words} of one process. No loss differs by {_power(far)} or more.")


@styled
def restarted_curve(reference: Sequence[float], attempts: Mapping[str, tuple[int, Sequence[float]]]) -> Picture:
    """One process's loss, and on top of it those of attempts at the same training, by name: (first step, losses)."""
    figure, axes = new(left=0.09, right=0.98, top=0.86, bottom=0.16)
    axes.plot(reference, color=shade(PALETTE["ink"], 0.78), lw=6, solid_capstyle="round", label="one process")
    told = []
    for number, (name, (first, losses)) in enumerate(attempts.items()):
        steps = range(first, first + len(losses))
        axes.plot(steps, losses, color=CYCLE[number], ls=DASHES[number], lw=2, label=name)
        axes.plot(steps[-1], losses[-1], marker="|", ms=16, mew=2, color=CYCLE[number])
        told.append(f"{name}: steps {first} to {steps[-1]}")
    axes.set(xlabel="step", ylabel="loss")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, fontsize=9, borderaxespad=0)
    return Picture(figure, f"{'; '.join(told)}. All of them lie on the curve of one process.")


@styled
def bucket_timeline(
    ready: Sequence[tuple[str, float]], reduces: Sequence[tuple[str, float, float]], *, kind: str = "measured"
) -> Picture:
    """The end of a backward pass and DDP's all-reduces over one axis of time.

    ready: gradients in the order in which they became ready, (name, seconds); reduces: (name, start, end) of each
    bucket. The first row has a tick for each gradient, every other row is a bucket.
    """
    figure, axes = new(left=0.15, right=0.98, top=0.93, bottom=0.17)
    last = max(seconds for _, seconds in ready)
    end = max(last, *(stop for _, _, stop in reduces))
    axes.add_patch(one_patch([(0, -0.3, last, 0.3)], fc=shade(PALETTE["blue"], 0.82), ec=PALETTE["blue"], lw=0.8))
    axes.vlines([seconds for _, seconds in ready], -0.3, 0.3, color=PALETTE["ink"], lw=1)
    for row, (_, start, stop) in enumerate(reduces, 1):
        axes.add_patch(one_patch([(start, row - 0.3, stop, row + 0.3)], fc=shade(PALETTE["orange"], 0.72),
                                 ec=PALETTE["orange"], lw=0.8, hatch="..."))  # fmt: skip
    axes.axvline(last, color=PALETTE["ink"], lw=1, ls="--")
    axes.set(xlim=(0, end * 1.03), ylim=(len(reduces) + 0.5, -0.5), yticks=range(len(reduces) + 1))
    axes.set_yticklabels(["backward", *(name for name, _, _ in reduces)], fontsize=9)
    axes.tick_params(axis="y", length=0)
    marks = [tick for tick in axes.get_xticks() if 0 <= tick <= end]
    axes.set_xticks(marks, [f"{1e3 * tick:g}" for tick in marks])
    axes.set_xlabel(f"ms since the backward pass began ({kind})")
    hidden = sum(max(0.0, min(stop, last) - start) for _, start, stop in reduces)
    whole = sum(stop - start for _, start, stop in reduces)
    return Picture(figure, f"{plural(len(reduces), 'bucket')}: {hidden / whole:.0%} of the time of their all-reduces "
                           f"({kind}) lies within the backward pass.")  # fmt: skip


PARTS = {
    "computing": ("blue", ""), "tensor": ("orange", "..."), "context": ("sky", "///"), "pipeline": ("purple", "xx"),
    "data": ("green", "\\\\"), "bubble": ("mist", ""),
}  # fmt: skip


@styled
def layout_bars(found: Sequence[Estimate], *, room: float | None = None) -> Picture:
    """A bar for each layout: modelled seconds of a step by what they are spent on, with what a GPU keeps in words.

    room: bytes of a GPU; what keeps more is written in bold, as it doesn't fit.
    """
    figure, axes = new(left=0.32, right=0.86, top=0.86, bottom=0.16)
    for row, each in enumerate(found):
        left = 0.0
        for part, seconds in each.seconds.items():
            name, hatch = PARTS[part]
            fill = PALETTE[name] if part == "bubble" else shade(PALETTE[name], 0.7)
            axes.barh(row, seconds, left=left, color=fill, ec=PALETTE["grey" if part == "bubble" else name], lw=0.7,
                      hatch=hatch, height=0.66, label=part if row == 0 else None)  # fmt: skip
            left += seconds
        _keeps(axes, row, left, each, room)
    axes.set(ylim=(len(found) - 0.5, -0.5), yticks=range(len(found)), xlabel="seconds of a step (modelled)")
    axes.set_yticklabels([str(each.layout) for each in found], fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.legend(loc="lower right", bbox_to_anchor=(1.16, 1.0), ncols=6, fontsize=8.5, borderaxespad=0,
                columnspacing=1.1, handlelength=1.5)  # fmt: skip
    told = "; ".join(f"{each.layout}: {each.step:.1f} s, {each.bytes_kept / 2**30:.0f} GiB" for each in found)
    return Picture(figure, f"Modelled seconds of a step and memory of a GPU. {told}.")


def _keeps(axes: Axes, row: int, left: float, each: Estimate, room: float | None) -> None:
    full = room is not None and each.bytes_kept > room
    axes.text(left, row, f"  {each.bytes_kept / 2**30:,.0f} GiB{' (too much)' if full else ''}", va="center",
              fontsize=9, weight="bold" if full else "normal")  # fmt: skip
