"""Explorers of profiles: the cards of a kernel, and the versions of a training step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from helpers.pictures import plots
from helpers.pictures.figures import Markup, Picture, card_height
from helpers.pictures.plots.step_log import CHANGES
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown
from helpers.pictures.widgets.explorer import Explorer
from helpers.results.diagnose import diagnose
from helpers.results.ladder import Ladder
from helpers.results.step_log import StepLog
from vgpu.hardware import gpus as table
from vgpu.hardware.device import current
from vgpu.tools.compare import GPUS_SHOWN
from vgpu.tools.launch import Launch
from vgpu.tools.profile import Profile, profile

if TYPE_CHECKING:
    from vgpu.tools.prepare import Dimensions, Grid

HEIGHT = 570


def cards(
    kernels: Any,
    grid: Grid = None,
    block: Dimensions | None = None,
    args: tuple = (),
    *,
    gpus: Sequence[str] = GPUS_SHOWN,
    shared_bytes: int = 0,
) -> Explorer:
    """Cards of a kernel's profile: what each resource has to do, memory, occupancy, warps, hot lines, and the verdict.

    `kernels`: a kernel in either language with its grid, block and args as at a launch; or a `Launch`, a `Profile`, a
    ladder, or a mapping from names to any of these, for a slider to choose from. Each is run once, counted; the slider
    of `gpus` reads the same counts for another GPU. Raises TypeError for what is none of these.
    """
    found = {name: _profiled(name, each, (grid, block, args), shared_bytes) for name, each in _named(kernels).items()}
    rows = [table.find(name).name for name in ((gpus,) if isinstance(gpus, str) else gpus)]
    here = current().name
    rows = rows if here in rows else [*rows, here]
    controls = {}
    if len(found) > 1:
        controls["kernel"] = choice("kernel", next(iter(found)), found)
    controls["gpu"] = choice("GPU", here, rows)

    def draw(gpu: str, kernel: str = next(iter(found))) -> Markup:
        return plots.kernel_cards(diagnose(found[kernel].on(gpu)), name=kernel)

    return Explorer("cards", draw, controls, height=HEIGHT)


def _named(kernels: Any) -> Mapping[str, object]:
    if isinstance(kernels, Ladder):
        return kernels.profiles
    if isinstance(kernels, Mapping):
        return checked.versions(kernels, "a kernel, a launch or a profile")
    one = kernels.kernel if isinstance(kernels, Launch) else kernels
    name = getattr(one, "name", None) or getattr(one, "__name__", None) or "kernel"
    return {str(name): kernels}


def _profiled(name: str, given: object, launch: tuple, shared_bytes: int) -> Profile:
    if isinstance(given, Profile):
        return given
    if isinstance(given, Launch):
        return given.profile()
    grid, block, args = launch
    if grid is None:
        raise TypeError(
            f"{name!r} is a {type(given).__name__}: cards takes profiles and launches, "
            "or a kernel with its grid, block and args: cards(kernel, grid, block, args)"
        )
    return profile(given, grid, block, args, shared_bytes=shared_bytes)


def changes(log: StepLog, *, before: str | None = None, after: str | None = None) -> Explorer:
    """Any two versions of a training step from a log: their timelines and their counts.

    log: a `StepLog` with at least two versions; before, after: names to begin with, else the first and the last that
    was kept. TypeError for what is no log, ValueError for fewer versions.
    """
    if not isinstance(log, StepLog):
        raise TypeError(f"changes takes a StepLog, with at least two versions; this is of type {type(log).__name__}")
    names = list(log)
    if len(names) < 2:
        raise ValueError(f"before and after are two versions, and this log has {len(names)}: log.run(name, program)")
    kept = [name for name in names if name not in log.reverted]
    controls = {
        "before": dropdown("before", checked.among("before", before or names[0], names), names),
        "after": dropdown("after", checked.among("after", after or kept[-1], names), names),
    }

    def draw(before: str, after: str) -> Picture:
        return plots.change_lanes(log[before], log[after])

    return Explorer("changes", draw, controls, height=card_height(CHANGES))
