"""The lanes of a warp against its instructions, for several launches one below the other, on one scale."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import WARP, lanes_on_end, stretches
from helpers.pictures.plots.issue import slots

MOST_PANELS = 4
_TALL, _HEAD, _FOOT = 0.72, 0.3, 0.62  # inches of a panel, of the words above it, and below the last one
_LEFT, _WIDE = 0.06, 0.925


@styled
def mask_strips(recordings: Mapping[str, object], warp: int = 0) -> Picture:
    """One warp of each of up to four recordings: a column an instruction, a row a lane, all on one scale.

    recordings: by name, what `record` gives. Blue is a lane that takes part in an instruction of all 32 lanes, orange
    one that takes part while others do not; white is a slot that was issued for nothing. ValueError for none, for
    more than can be told apart, and for a recording without steps of this warp.
    """
    if not 1 <= len(recordings) <= MOST_PANELS:
        raise ValueError(f"this draws 1 to {MOST_PANELS} recordings, not {len(recordings)}")
    steps = {name: recording.of(warp) for name, recording in recordings.items()}
    if empty := [name for name, found in steps.items() if not found]:
        raise ValueError(f"the recording {empty[0]!r} has no steps of warp {warp}")
    most = max(map(len, steps.values()))
    figure, panels = new("wide", layout=None, nrows=len(steps), squeeze=False)
    height = len(steps) * (_HEAD + _TALL) + _FOOT
    figure.set_size_inches(7.0, height)
    for at, (axes, (name, found)) in enumerate(zip(panels[:, 0], steps.items(), strict=True)):
        low = height - (at + 1) * (_HEAD + _TALL)
        axes.set_position([_LEFT, low / height, _WIDE, _TALL / height])
        _panel(axes, f"{name}: {_words(found)}", found, most)
        axes.tick_params(labelbottom=at == len(steps) - 1)
    axes.set_xlabel("instruction of the warp (PTX)")
    figure.text(
        _LEFT, 0.07 / height, "blue: all 32 lanes · orange: a lane that takes part, others do not · white: lost",
        fontsize=8.5, va="center",
    )  # fmt: skip
    said = "; ".join(f"{name} takes {_words(found)}" for name, found in steps.items())
    return Picture(figure, f"Warp {warp} of each: {said}.")


def _words(found) -> str:
    taken = slots(found)
    return f"{taken.instructions:,} instructions, {100 * taken.share:.0f} % of the lane slots used"


def _panel(axes, title: str, found, most: int) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((0, 0), len(found), WARP, fc="white", ec=PALETTE["grey"], lw=0.8))
    for colour, full in (("blue", True), ("orange", False)):
        boxes = [
            Rectangle((first, top), last - first, bottom - top)
            for first, last, step in stretches(found, lambda step: step.mask)
            if all(step.mask) == full
            for top, bottom in lanes_on_end(step.mask)
        ]
        axes.add_collection(PatchCollection(boxes, facecolor=PALETTE[colour], edgecolor="none"))
    axes.hlines(range(0, WARP + 1, 4 if most > 200 else 1), 0, len(found), color="white", lw=0.25)
    axes.set(xlim=(0, most), ylim=(WARP, 0), yticks=[0.5, 31.5], yticklabels=["0", "31"])
    axes.set_title(title, loc="left", fontsize=9, pad=3)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, labelsize=8)
