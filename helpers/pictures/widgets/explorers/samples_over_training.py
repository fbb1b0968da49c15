"""Samples, losses and score of an adversarial training, moment by moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.pictures import plots
from helpers.pictures.figures import Picture, card_height
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import dropdown, slider
from helpers.pictures.widgets.explorer import Explorer

NEEDED = ("step", "samples", "score")


def samples_over_training(runs, *, score_name: str = "score", limits: tuple[float, float] = (-1.0, 1.0)) -> Explorer:
    """A slider over the moments that a training kept: its samples, the losses and the score there.

    `runs`: the moments of one run, in order, or a mapping from short names to several. A moment is a mapping with
    "step", a whole number; "samples", grey images made from the same latents each time; "score", a number; all else in
    it is a loss and has a curve. `limits`: the values of a pixel that are black and white.
    """
    several = dict(runs) if isinstance(runs, Mapping) else {"": runs}
    kept = {name: moments(name, given) for name, given in several.items()}
    if not kept:
        raise ValueError("no runs: give the moments of one, or a mapping from short names to several")
    last = max(len(each) for each in kept.values()) - 1
    control = slider("moment", last, 0, last)

    def draw(moment: int, run: str = "") -> Picture:
        chosen = kept[run or next(iter(kept))]
        at = min(moment, len(chosen) - 1)
        losses = [name for name in chosen[0] if name not in NEEDED]
        return plots.training_moment(
            chosen[at]["samples"],
            at,
            [each["step"] for each in chosen],
            {name: [float(each[name]) for each in chosen] for name in losses},
            [float(each["score"]) for each in chosen],
            limits=limits,
            score_name=score_name,
        )

    controls = {"moment": control}
    if len(kept) > 1:
        controls = {"run": dropdown("run", next(iter(kept)), list(kept)), **controls}
    return Explorer("samples_over_training", draw, controls, height=card_height(caption_lines=2))


def moments(name: str, given) -> Sequence[Mapping]:
    """The moments of a run. TypeError or ValueError for what is none."""
    found = checked.options(f"run {name}".strip(), given)
    for moment in found:
        if not isinstance(moment, Mapping) or any(part not in moment for part in NEEDED):
            raise ValueError(f"a moment is a mapping with {', '.join(NEEDED)} and losses; this is {moment!r:.80}")
        if set(moment) != set(found[0]):
            raise ValueError("all moments of a run have the same losses")
    return found
