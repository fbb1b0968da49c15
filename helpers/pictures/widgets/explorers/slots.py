"""The places of one SM filling up with blocks, for any kernel on any GPU of the table."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, dropdown, gpus
from helpers.pictures.widgets.explorer import Explorer
from vgpu.hardware.gpus import DEFAULT, GPUS
from vgpu.hardware.occupancy import occupancy
from vgpu.tools.compiled import Compiled, assembled_for, compiled

KIB = 1024
BLOCKS = (32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024)
REGISTERS = (16, 24, 32, 33, 40, 48, 56, 64, 72, 80, 96, 112, 128, 168, 200, 255)
COMPILERS = 0  # stands for what the compiler says: a control takes no None
SHARED = (0, 1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


def slots(
    kernel=None,
    arguments: Sequence = (),
    *,
    gpu: str = DEFAULT,
    block: int = 256,
    registers: int | None = None,
    shared_bytes: int = 0,
) -> Explorer:
    """What the resident blocks of one SM take of its warps, registers, shared memory and block places.

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
    counts = [(str(count), count) for count in sorted({*REGISTERS, registers} - {None})]
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
