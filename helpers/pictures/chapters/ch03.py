"""Pictures of chapter 3: the map of a GPU's memories, and the bandwidth of data that fit into L2."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.ticker import FuncFormatter, NullLocator

from helpers.pictures.figures import CYCLE, MARKERS, Drawing, Picture, new, styled
from helpers.pictures.plots.common import bytes_text, speed_text
from helpers.pictures.plots.ink import MONO
from helpers.pictures.plots.places import LOOKS
from helpers.pictures.plots.short_values import fitted
from helpers.pictures.plots.templates import from_template
from vgpu.hardware.cache_measurements import REREAD, RereadBandwidth
from vgpu.hardware.gpus import GPU
from vgpu.tools.steps.spaces import VariableSpaces

MOST_NAMES = 40


def memory_map(gpu: GPU, kernels: Sequence[VariableSpaces] = ()) -> Drawing:
    """The memories of a GPU: what each one holds, its size and latency, and the bandwidth of the links between them.

    The figures are those of the GPU's row; a latency or bandwidth that no source gives is left out. kernels: what
    `spaces` found in some kernels, whose variables are written into their memories, at most `MOST_NAMES` characters
    for each.
    """
    names = _by_space(kernels)
    looks = {space: colour for space, (_, colour) in LOOKS.items()}
    return from_template(
        "memory_map", _told(kernels) if kernels else _finding(gpu),
        gpu=gpu, names=names, held=_in_dram(names), looks=looks, mono=MONO,
    )  # fmt: skip


def _by_space(kernels: Sequence[VariableSpaces]) -> dict[str, list[str]]:
    """The names of variables by the memory they live in, each once, in the order of the kernels."""
    found: dict[str, list[str]] = {}
    for one in kernels:
        for variable in one.variables:
            kept = found.setdefault(variable.space, [])
            if variable.name not in kept:
                kept.append(variable.name)
    return found


def _in_dram(names: dict[str, list[str]]) -> list[tuple[int, str, str]]:
    """Lines for the box of DRAM, each with its height and, where it lists variables, the name of their memory."""
    lines, y = [], 176
    for space in ("global", "local", "constant", "texture"):
        if space in names:
            lines.append((y, f"{space}:", ""))
            for line in textwrap.wrap(fitted(", ".join(names[space]), MOST_NAMES), 14):
                y += 13
                lines.append((y, line, space))
            y += 18
    return lines


def _told(kernels: Sequence[VariableSpaces]) -> str:
    names = _by_space(kernels)
    where = {"register": "registers", "parameter": "parameters"}
    said = "; ".join(
        f"{where.get(space, f'{space} memory')}: {', '.join(names[space])}" for space in LOOKS if space in names
    )
    return f"Variables of {', '.join(one.kernel for one in kernels)} by the memory they live in: {said}."


def _finding(gpu: GPU) -> str:
    said = f"{gpu.name}: {gpu.sms} SMs with {bytes_text(4 * gpu.registers_per_sm)} of registers and "
    said += f"{bytes_text(gpu.l1_bytes)} of L1 and shared memory each, "
    said += f"one L2 of {bytes_text(gpu.l2_bytes)}, DRAM of {bytes_text(gpu.memory_bytes)} at "
    said += f"{speed_text(gpu.memory_bandwidth)}, and the host's memory behind a link of "
    said += speed_text(gpu.host_bandwidth)
    if gpu.dram_latency is None or gpu.shared_latency is None:
        return f"{said}."
    near, far = gpu.shared_latency, gpu.dram_latency
    return f"{said}; a load from shared memory takes {near:.3g} clocks, one from DRAM {far:.3g}."


@styled
def reread_bandwidth(measured: Sequence[RereadBandwidth] = REREAD) -> Picture:
    """Published bandwidths of reading the same data repeatedly, with a line at the size of each GPU's L2."""
    figure, axes = new()
    for number, row in enumerate(measured):
        colour = CYCLE[number]
        sizes = [nbytes / 2**20 for nbytes in row.nbytes]
        axes.plot(sizes, [rate / 1e12 for rate in row.rates], color=colour, marker=MARKERS[number], ms=4.5,
                  label=f"{row.name} (measured, published)")  # fmt: skip
        axes.axvline(row.l2_bytes / 2**20, color=colour, lw=1, ls=(":", "--")[number % 2],
                     label=f"L2 of {row.name}: {bytes_text(row.l2_bytes)}")  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda mib, _: f"{mib:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="data that are read over and over, MiB", ylabel="read, TB/s", ylim=(0, None))
    axes.legend(fontsize=8.5)
    said = "; ".join(
        f"{row.name}: {row.rates[0] / 1e12:.2g} TB/s over {bytes_text(row.nbytes[0])}, "
        f"{row.rates[-1] / 1e12:.2g} TB/s over {bytes_text(row.nbytes[-1])}, with an L2 of {bytes_text(row.l2_bytes)}"
        for row in measured
    )
    return Picture(figure, f"Measured and published: {said}.")
