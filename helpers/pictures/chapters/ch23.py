"""Pictures of chapter 23: the versions of a training step and what each one gained."""

from __future__ import annotations

from helpers.pictures.figures import PALETTE, Picture, new, styled
from helpers.pictures.plots.common import shade
from helpers.results.step_log import MODEL_ERROR, StepLog
from vgpu.hardware.time_model import seconds_text


@styled
def change_steps(log: StepLog) -> Picture:
    """The versions of a `StepLog` from the top down: a bar of modelled time each, with its launches and its gain.

    White: a version that was taken back. Grey: one within the model's error of the last that was kept before it.
    Raises ValueError for an empty log.
    """
    versions = list(log.values())
    if not versions:
        raise ValueError("this log has no version yet: log.run(name, program)")
    first = versions[0]
    figure, axes = new()
    figure.set_figheight(0.9 + 0.27 * len(versions))
    for row, version in enumerate(versions):
        taken_back = version.name in log.taken_back
        clear = version is first or not 1 / MODEL_ERROR < log.gain(version.name) < MODEL_ERROR
        colour = PALETTE["blue" if clear else "grey"]
        axes.barh(row, 1e6 * version.seconds, height=0.7, ec=colour, lw=1,
                  color="white" if taken_back else shade(colour, 0.6))  # fmt: skip
        told = f"  {version.a_step(version.launches):,.3g} launches, {first.seconds / version.seconds:.2g} ×"
        axes.text(1e6 * version.seconds, row, told, va="center", fontsize=8)
    names = [version.name + (" (taken back)" if version.name in log.taken_back else "") for version in versions]
    longest = max(version.seconds for version in versions)
    axes.set(yticks=range(len(versions)), ylim=(len(versions) - 0.4, -0.6), xlim=(0, 1.3e6 * longest))
    axes.set_yticklabels(names, fontsize=8)
    axes.set_xlabel(f"µs a step (modelled on {first.gpu.name})")
    axes.set_title(
        "grey: within the model's error of the last that was kept; white: taken back", fontsize=8, loc="left"
    )
    kept = [version for version in versions if version.name not in log.taken_back]
    return Picture(
        figure,
        f"{len(versions)} versions of a step, {len(log.taken_back)} of them taken back: from "
        f"{seconds_text(first.seconds)} and {first.a_step(first.launches):,.3g} launches to "
        f"{seconds_text(kept[-1].seconds)} and {kept[-1].a_step(kept[-1].launches):,.3g} "
        f"(modelled on {first.gpu.name}).",
    )
