"""One warp scheduler hiding latency behind the warps that it has, as their number and the kernel change."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.models.warp_scheduler import timeline
from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import dropdown, gpus, slider
from helpers.pictures.widgets.explorer import Explorer
from vgpu.hardware.gpus import DEFAULT, GPUS
from vgpu.tools.launch import Launch
from vgpu.tools.steps.dependencies import Chain, chain

WARPS = 16


def scheduler(launches: Launch | Mapping[str, Launch], *, gpu: str = DEFAULT, warps: int = 1) -> Explorer:
    """Who issues and who waits, clock by clock, when so many warps of a launch share one scheduler (modelled).

    `launches`: a `Launch`, or a mapping from short names to several, which a list chooses from. Warp 0 of block 0 is
    run to see what waits for what; `results.warp_scheduler` says what the model leaves out. `warps`: at the start.
    """
    versions = checked.versions(launches, "a Launch(kernel, grid, block, args)")
    for each in versions.values():
        if not isinstance(each, Launch):
            raise TypeError(f"scheduler takes Launch(kernel, grid, block, args), not a {type(each).__name__}")
    chains: dict[str, Chain] = {}
    first = next(iter(versions))
    controls = {"version": dropdown("version", first, versions)} if len(versions) > 1 else {}
    controls |= {"warps": slider("warps", warps, 1, _most(checked.gpu_name(gpu))), "gpu": gpus(gpu)}

    def fit() -> None:
        """A scheduler of another GPU may hold fewer warps than are chosen now."""
        most = _most(controls["gpu"].value)
        controls["warps"].value = min(controls["warps"].value, most)
        controls["warps"].max = most

    def draw(warps: int, gpu: str, version: str = first) -> Picture:
        if version not in chains:
            each = versions[version]
            chains[version] = chain(
                each.kernel, each.grid, each.block, each.args, shared_bytes=each.shared_bytes, **each.meta
            )
        found = timeline(chains[version], warps, GPUS[gpu])
        return plots.scheduler_rows(found, prefix=f"{version}: " if version else "")

    return Explorer("scheduler", draw, controls, fit=fit)


def _most(gpu: str) -> int:
    """Warps that one of the schedulers of an SM holds."""
    return min(WARPS, GPUS[gpu].warps_per_sm // GPUS[gpu].partitions_per_sm)
