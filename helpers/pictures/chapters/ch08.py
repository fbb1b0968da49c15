"""Pictures of chapter 8: active lanes by instruction, and stream compaction by ballot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from helpers.pictures.figures import PALETTE, Drawing, Picture, styled, subplots
from helpers.pictures.plots.common import WARP, check_count, lanes_on_end, stretches
from helpers.pictures.plots.ink import MONO
from helpers.pictures.plots.issue import slots
from helpers.pictures.plots.templates import from_template
from vgpu.base.words import plural
from vgpu.tools.steps.recording import Recording, Step

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PANELS = 4
_TALL, _HEAD, _FOOT = 0.72, 0.3, 0.62  # inches of a panel, of the words above it, and below the last one
_STRIP_LEFT, _WIDE = 0.06, 0.925


@styled
def mask_strips(recordings: Mapping[str, Recording], warp: int = 0) -> Picture:
    """One warp of each of up to four recordings: one column per instruction, one row per lane, all on one scale.

    recordings: by name, what `record` gives. Blue is a lane that takes part in an instruction of all 32 lanes, orange
    one that takes part while others do not; white is a slot that was issued for nothing. ValueError for none, for
    more than can be told apart, and for a recording without steps of this warp.
    """
    check_count(recordings, MOST_PANELS, "recordings")
    steps = {name: recording.of(warp) for name, recording in recordings.items()}
    if empty := [name for name, found in steps.items() if not found]:
        raise ValueError(f"the recording {empty[0]!r} has no steps of warp {warp}")
    most = max(map(len, steps.values()))
    figure, panels = subplots(len(steps))
    height = len(steps) * (_HEAD + _TALL) + _FOOT
    figure.set_size_inches(7.0, height)
    for at, (axes, (name, found)) in enumerate(zip(panels[:, 0], steps.items(), strict=True)):
        low = height - (at + 1) * (_HEAD + _TALL)
        axes.set_position((_STRIP_LEFT, low / height, _WIDE, _TALL / height))
        _strip(axes, f"{name}: {_slots_used(found)}", found, most)
        axes.tick_params(labelbottom=at == len(steps) - 1)
    axes.set_xlabel("instruction of the warp (PTX)")
    figure.text(
        _STRIP_LEFT, 0.07 / height, "blue: all 32 lanes · orange: a lane that takes part, others do not · white: lost",
        fontsize=8.5, va="center",
    )  # fmt: skip
    said = "; ".join(f"{name} takes {_slots_used(found)}" for name, found in steps.items())
    return Picture(figure, f"Warp {warp} of each: {said}.")


def _slots_used(found: Sequence[Step]) -> str:
    taken = slots(found)
    return f"{taken.instructions:,} instructions, {100 * taken.share:.0f} % of the lane slots used"


def _strip(axes: Axes, title: str, found: Sequence[Step], most: int) -> None:
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
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=8)


MOST_WARPS = 4
_NAMED = 8  # lanes that the sentence names one by one, and that have room for words


def vote_places(words: ArrayLike, todo: ArrayLike, warps: Sequence[int] = (0,)) -> Drawing:
    """The votes of a warp's lanes, how many lower lanes voted yes, and the index at which each lane wrote.

    words: of each warp the word that `__ballot_sync` gave it, bit k the vote of lane k. todo: the list that the lanes
    with a yes wrote their element into, no longer than what was written; lane k of warp w has the element 32 w + k.
    ValueError for no warp or more than fit, or for a list in which a place is not the warp's start plus the votes
    before.
    """
    words, todo = np.asarray(words), np.asarray(todo)
    check_count(warps, MOST_WARPS, "warps")
    panels, said = [], []
    for warp in warps:
        votes = [int(words[warp]) >> lane & 1 for lane in range(WARP)]
        places = _places(votes, todo, warp)
        start = min(places.values(), default=0)
        begins = f", and its positions begin at {start}" if places else ", so it needs no position"
        written = [
            (lane, WARP * warp + lane, f"{start} + {before} = {place}" if len(places) <= _NAMED else place)
            for before, (lane, place) in enumerate(places.items())
        ]
        counted = [(vote, sum(votes[:lane])) for lane, vote in enumerate(votes)]
        panels.append((f"warp {warp}: {_yes(len(places))}{begins}", counted, written))
        said.append(_words(warp, places))
    return from_template("vote_places", " ".join(said), panels=panels, named=_NAMED, mono=MONO)


def _places(votes: list[int], todo: np.ndarray, warp: int) -> dict[int, int]:
    """Where each lane with a yes wrote its element, as found in the list."""
    places = {}
    for lane in (lane for lane in range(WARP) if votes[lane]):
        found = np.flatnonzero(todo == WARP * warp + lane).tolist()
        if len(found) != 1:
            raise ValueError(f"element {WARP * warp + lane} stands {plural(len(found), 'time')} in the list, not once")
        places[lane] = found[0]
    if starts := {place - sum(votes[:lane]) for lane, place in places.items()} - {min(places.values(), default=0)}:
        raise ValueError(f"the places of warp {warp} are not its start plus the votes before: {sorted(starts)}")
    return places


def _yes(count: int) -> str:
    return "no lane votes yes" if not count else "1 lane votes yes" if count == 1 else f"{count} lanes vote yes"


def _words(warp: int, places: dict[int, int]) -> str:
    if not places:
        return f"In warp {warp} no lane votes yes, so none writes."
    before = range(len(places))
    if len(places) > _NAMED:
        return (
            f"In warp {warp} {_yes(len(places))}: they write to positions {min(places.values())} to "
            f"{max(places.values())} without a gap."
        )
    lanes, counts, written = (", ".join(map(str, row)) for row in (places, before, places.values()))
    if len(places) == 1:
        return f"In warp {warp} lane {lanes} with {counts} votes before writes to position {written}."
    return f"In warp {warp} lanes {lanes} with {counts} votes before write to positions {written}."
