"""The memory of training: what it is for over a step, what checkpoints save and cost, how it grows with the batch."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from helpers.pictures.figures import CYCLE, PALETTE, Picture, new, styled
from helpers.results.torch.memory import MIB, TEMPORARY, MemoryLine

_LOOK = ((CYCLE[0], ""), (CYCLE[1], "//"), (CYCLE[4], ""), (CYCLE[3], "\\\\"), (CYCLE[5], ".."), (CYCLE[2], "xx"))
_MOST_POINTS, _FEWEST_POINTS = 360, 12
_OTHERS = 0.15  # of the width of a phase: one that has no name here


@styled
def memory_kinds(line: MemoryLine, kept: Mapping[str, str], *, name: str = "") -> Picture:
    """Bytes after each allocation or free, stacked by what they are for, with the phases marked above.

    kept: what each phase leaves behind, by the name of the phase: {"forward": "activations", …}.
    """
    kinds = line.kinds(kept)
    figure, axes = new("wide", layout=None)
    figure.subplots_adjust(left=0.08, right=0.985, top=0.80, bottom=0.14)
    shown, places, edges = _places(line, kept)
    stack = np.array(list(kinds.values()))[:, shown] / MIB
    for row, (kind, lower, upper) in enumerate(zip(kinds, _below(stack), np.cumsum(stack, axis=0), strict=True)):
        colour, hatch = (PALETTE["grey"], "") if kind == TEMPORARY else _LOOK[row % len(_LOOK)]
        axes.fill_between(places, lower, upper, step="post", facecolor=colour, hatch=hatch, edgecolor="#ffffff", lw=0,
                          label=kind)  # fmt: skip
    at = line.allocated.index(line.peak)
    peak = np.interp(at, shown, places)
    axes.plot([peak], [line.peak / MIB], ls="", marker="v", ms=9, color=PALETTE["ink"], label="peak", clip_on=False)
    top = 1.08 * line.peak / MIB
    for phase, (left, right) in zip(line.phases, pairwise(edges), strict=True):
        axes.axvline(left, color="#333333", lw=0.6, ls=":")
        if phase.name in kept:
            axes.text((left + right) / 2, top, phase.name, ha="center", va="bottom", fontsize=min(8.5, 90 / len(edges)))
    axes.set(xlim=(0, edges[-1]), ylim=(0, top), ylabel="MiB", xticks=[])
    axes.set_xlabel("phases, in order, each as wide as the others; in them allocations and frees")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.07), ncols=6, fontsize=9, borderaxespad=0, handlelength=1.5,
                columnspacing=1.1)  # fmt: skip
    return Picture(figure, kinds_finding(line, kept, name))


def _places(line: MemoryLine, kept: Mapping[str, str]) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Changes that are drawn, where each of them stands, and where phases begin and end: all as wide, as an optimiser
    makes many more changes than a forward pass. Of a long phase the largest of each stretch is drawn."""
    shown, places, edges = [], [], [0.0]
    most = max(_FEWEST_POINTS, _MOST_POINTS // len(line.phases))
    heights = np.array(line.allocated)
    for phase in line.phases:
        count = phase.last - phase.first + 1
        cuts = phase.first + np.linspace(0, count, min(count, most) + 1).astype(int)
        wide = 1.0 if phase.name in kept else _OTHERS
        for first, last in pairwise(cuts):
            at = first + heights[first:last].argmax()
            shown.append(at)
            places.append(edges[-1] + wide * (at - phase.first) / count)
        edges.append(edges[-1] + wide)
    return np.array(shown), np.array(places), edges


def _below(stack: np.ndarray) -> np.ndarray:
    return np.cumsum(stack, axis=0) - stack


def kinds_finding(line: MemoryLine, kept: Mapping[str, str], name: str = "") -> str:
    """What the picture shows, in a sentence."""
    at = line.allocated.index(line.peak)
    parts = ", ".join(f"{kind} {values[at] / MIB:.1f}" for kind, values in line.kinds(kept).items() if values[at])
    where = f"at allocation {at + 1} of {len(line.changes)}, in {line.peak_phase}"
    return (
        f"{f'{name}: the' if name else 'The'} peak of {line.peak / MIB:.1f} MiB comes {where}, and consists, in MiB, "
        f"of {parts} (counted)."
    )
