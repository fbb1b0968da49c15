"""Explorers of an SM: active lanes, the scheduler, resident blocks, and waves of blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from helpers.models.warp_scheduler import timeline
from helpers.pictures import plots
from helpers.pictures.figures import CAPTION_LINE, Drawing, Picture
from helpers.pictures.plots.issue import HEIGHT, issue_strip
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown, gpus, slider, suited
from helpers.pictures.widgets.explorer import Explorer
from vgpu.hardware.gpus import DEFAULT, GPUS
from vgpu.hardware.occupancy import occupancy
from vgpu.tools.compiled import Compiled, assembled_for, compiled
from vgpu.tools.launch import Launch
from vgpu.tools.steps.dependencies import Chain, chain
from vgpu.tools.steps.recording import Recording
from vgpu.tools.steps.stepper import RecordingTooLong, record

if TYPE_CHECKING:
    from vgpu.tools.prepare import Dimensions, Grid

WARP = 32
MOST_STEPS = 6_000


def lanes(
    kernel: Any, grid: Grid, block: Dimensions | None, args: tuple | Callable[..., tuple], *, warp: int = 0,
    block_index: Dimensions = 0, shared_bytes: int = 0, max_steps: int = MOST_STEPS, **controls: object,
) -> Explorer:  # fmt: skip
    """The active lanes of a warp at each instruction, and how many of the issued lane slots are useful.

    kernel, grid, block and args as at a launch, in any language; nothing that the kernel writes stays. With further
    controls `args` is a function of them that gives the arguments: `args=lambda order: (data[order], out)` with
    `order=["as it comes", "sorted"]`, where (low, high) makes a slider, a list a menu, True or False a box to tick.
    The warp's own slider is there where the block has several.
    """
    threads = WARP if block is None else math.prod(block if isinstance(block, Sequence) else (block,))
    warps = max(1, math.ceil(threads / WARP))
    if not 0 <= warp < warps:
        where = "where Triton chooses the block" if block is None else f"in a block of {threads} threads"
        raise ValueError(f"warp is from 0 to {warps - 1} {where}, not {warp}")
    if controls:
        checked.called("args", args)
    blocks: dict[tuple, Recording | None] = {}
    single: dict[tuple, Recording] = {}

    def draw(warp: int = 0, **given: Any) -> Drawing:
        key = tuple(given.items())

        def recorded(**which: Any) -> Recording:
            arguments = args(**given) if callable(args) else args
            return record(
                kernel, grid, block, arguments, block_index, shared_bytes=shared_bytes, max_steps=max_steps, **which
            )

        if key not in blocks:
            try:
                blocks[key] = recorded()
            except RecordingTooLong:  # a large block: its warps one by one, each of which may take as many steps
                blocks[key] = None
        if blocks[key] is None and (*key, warp) not in single:
            single[*key, warp] = recorded(warp=warp)
        said = ", ".join(f"{name} {value}" for name, value in given.items())
        return issue_strip(blocks[key] or single[*key, warp], warp, prefix=f"{said}: " if said else "")

    made = {name: suited(name, given) for name, given in controls.items()}
    if warps > 1:
        made["warp"] = slider("warp", warp, 0, warps - 1)
    return Explorer("lanes", draw, made, height=round(HEIGHT + 30 + 2 * CAPTION_LINE))


WARPS = 16


def scheduler(launches: Launch | Mapping[str, Launch], *, gpu: str = DEFAULT, warps: int = 1) -> Explorer:
    """Which warp issues and which ones stall, clock by clock, on one scheduler (modelled).

    `launches`: a `Launch`, or a mapping from short names to several, which a list chooses from. Warp 0 of block 0 is
    run to see what waits for what; `results.warp_scheduler` says what the model leaves out. `warps`: at the start.
    """
    versions = checked.versions(launches, "a Launch(kernel, grid, block, args)", Launch)
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


KIB = 1024
BLOCKS = (32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024)
REGISTERS = (16, 24, 32, 33, 40, 48, 56, 64, 72, 80, 96, 112, 128, 168, 200, 255)
COMPILERS = 0  # stands for what the compiler says: a control takes no None
SHARED = (0, 1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


def slots(
    kernel: Any = None,
    arguments: Sequence = (),
    *,
    gpu: str = DEFAULT,
    block: int = 256,
    registers: int | None = None,
    shared_bytes: int = 0,
) -> Explorer:
    """The warps, registers, shared memory and block slots of an SM that its resident blocks use.

    `kernel`, in any language, or a mapping from short names to kernels, which a list chooses from: compiled for
    `arguments`, and assembled for each GPU that is chosen, without being run. Its registers can be overruled. Without a
    kernel everything is chosen by hand. `shared_bytes`: dynamic shared memory a block at the start; the sliders' KiB
    come on top of what the kernel declares.
    """
    versions = {} if kernel is None else checked.versions(kernel)
    arguments = checked.arguments(arguments)
    _check(block, registers, shared_bytes)
    found: dict[str, Compiled] = {}
    first = next(iter(versions), "")
    sizes = sorted({*BLOCKS, block})
    bytes_ = sorted({*(KIB * size for size in SHARED), shared_bytes})
    counts = [(str(count), count) for count in sorted({*REGISTERS, registers or REGISTERS[0]})]
    if versions:
        counts.insert(0, ("compiler's", COMPILERS))
    elif registers is None:
        registers = 32
    # The long readouts stand at the ends of their rows.
    controls = {"gpu": gpus(gpu), "block": choice("block size", block, sizes)}
    if len(versions) > 1:
        controls["version"] = dropdown("version", first, versions)
    controls |= {
        "shared": choice("shared KiB", shared_bytes, [(f"{size / KIB:g}", size) for size in bytes_]),
        "registers": choice("registers", registers or COMPILERS, counts),
    }

    def draw(gpu: str, block: int, registers: int, shared: int, version: str = first) -> Picture:
        row, said, static = GPUS[gpu], "", 0
        if versions:
            if version not in found:
                found[version] = compiled(versions[version], 1, block, arguments)
            needs = found[version].on(row)
            static = needs.shared_bytes
            stand_in = "" if assembled_for(row) == row.arch else f", assembled for {assembled_for(row)}"
            said = f" (compiler{stand_in})" if registers == COMPILERS else " (by hand)"
            registers = registers or needs.registers
        name = f"{version}, " if version else ""
        held = occupancy(registers, static + shared, block, row)
        return plots.sm_slots(held, row, prefix=f"{name}{registers} registers a thread{said}: ")

    return Explorer("slots", draw, controls)


def _check(block: int, registers: int | None, shared_bytes: int) -> None:
    """What the first frame starts with lies where a launch can lie; TypeError and ValueError say where that is."""
    if not isinstance(block, int):
        raise TypeError(f"block is the number of threads in a block, such as 256; got {block!r}")
    if not 1 <= block <= BLOCKS[-1]:
        raise ValueError(f"block is from 1 to {BLOCKS[-1]} threads, not {block}")
    if registers is not None and not 1 <= registers <= REGISTERS[-1]:
        raise ValueError(
            f"registers are from 1 to {REGISTERS[-1]} a thread, or None for the compiler's; not {registers}"
        )
    if shared_bytes < 0:
        raise ValueError(f"shared_bytes is a number of bytes, 0 or more, not {shared_bytes}")


def waves(
    kernel: Any,
    arguments: Sequence = (),
    *,
    block: int = 256,
    blocks: tuple[int, int] = (1, 2000),
    start: int | None = None,
    gpu: str = DEFAULT,
    shared_bytes: int = 0,
) -> Explorer:
    """Blocks of `kernel` over the SMs of a GPU in waves; a slider changes their number.

    `kernel`, in any language, is compiled for `arguments` and not run. `block`: threads a block; `blocks`: the range of
    the slider, which begins at `start`; `shared_bytes`: dynamic shared memory a block. Modelled: equal blocks.
    """
    made = compiled(kernel, 1, block, checked.arguments(arguments))
    blocks = checked.bounds("blocks", blocks)
    if blocks[0] < 1:
        raise ValueError(f"a grid has at least one block: blocks goes from 1 up, not from {blocks[0]}")

    def draw(gpu: str, blocks: int) -> Picture:
        needs = made.on(GPUS[gpu])
        held = occupancy(needs.registers, needs.shared_bytes + shared_bytes, block, GPUS[gpu])
        return plots.waves(blocks, held, GPUS[gpu])

    first = blocks[0] if start is None else start
    return Explorer("waves", draw, {"gpu": gpus(gpu), "blocks": slider("blocks", first, *blocks)})
