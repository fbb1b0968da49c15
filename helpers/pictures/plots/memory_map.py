"""A map of a GPU's memories: one multiprocessor, L2, DRAM and the host, with sizes, times and the links between."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from helpers.pictures.figures import PALETTE, Drawing
from helpers.pictures.plots.ink import GREY, PALE, Ink
from helpers.pictures.plots.lives import LOOKS
from helpers.pictures.plots.pyramid import bytes_text, speed_text
from helpers.pictures.plots.short_values import fitted
from vgpu.hardware.gpus import GPU
from vgpu.tools.steps.spaces import VariableSpaces

WIDTH, HEIGHT = 860, 338
SM, L2, DRAM, HOST = (30, 84, 314, 214), (434, 84, 88, 214), (628, 84, 92, 214), (772, 84, 82, 214)
"""Left, top, width and height of the four boxes."""
MOST_NAMES = 40
CHIP = (12, 36, 524, 282)
CARD = (4, 26, 728, 304)
_PALE = {"register": "#d9efe8", "near": "#fbe9c9", "l2": "#dcf0fb", "dram": "#d3e6f3", "host": "#f6e3ee"}


def memory_map(gpu: GPU, kernels: Sequence[VariableSpaces] = ()) -> Drawing:
    """Where a value of a kernel can be on this GPU: what each memory holds, how far it is, what the links carry.

    Figures are those of the GPU's row; a latency or bandwidth that no source gives is left out. kernels: what `spaces`
    tells of some kernels, whose variables are then written where they live; at most `MOST_NAMES` characters of each.
    """
    ink, names = Ink(), _by_space(kernels)
    ink.text(6, 17, f"{gpu.name}: {gpu.product}", size=12.5, bold=True, mono=False)
    ink.text(WIDTH - 8, 17, "clocks: from a load to the use of its value", size=10, ink=PALE, mono=False, anchor="end")
    ink.box(*CARD, "#ffffff", GREY, "5 4")
    ink.text(CARD[0] + CARD[2] - 8, CARD[1] + CARD[3] - 8, "the card", size=10, ink=PALE, mono=False, anchor="end")
    ink.box(*CHIP, "#fafafa", GREY)
    ink.text(CHIP[0] + CHIP[2] - 8, CHIP[1] + CHIP[3] - 6, "the chip", size=10, ink=PALE, mono=False, anchor="end")
    _multiprocessor(ink, gpu, names)
    _memory(ink, L2, "L2", "l2", "sky", bytes_text(gpu.l2_bytes), gpu.l2_latency, ("one for", "all SMs"))
    told = () if kernels else ("global memory:", "arrays of CuPy,", "tensors on", '"cuda"')
    _memory(ink, DRAM, "DRAM", "dram", "blue", bytes_text(gpu.memory_bytes), gpu.dram_latency, told)
    _held(ink, names)
    told_host = ("the CPU's:", "NumPy arrays,", "tensors on", '"cpu"')
    _memory(ink, HOST, "host", "host", "purple", "memory", None, told_host)
    _link(ink, SM[0] + SM[2] + 10, L2[0], "all SMs", gpu.l2_bandwidth)
    _link(ink, L2[0] + L2[2], DRAM[0], "", gpu.memory_bandwidth)
    _link(ink, DRAM[0] + DRAM[2], HOST[0], "", gpu.host_bandwidth, short=True)
    return ink.drawing(_told(kernels) if kernels else _finding(gpu), WIDTH, HEIGHT)


def _by_space(kernels: Sequence[VariableSpaces]) -> dict[str, list[str]]:
    """The names of variables by the memory they live in, each once, in the order of the kernels."""
    found: dict[str, list[str]] = {}
    for one in kernels:
        for variable in one.variables:
            kept = found.setdefault(variable.space, [])
            if variable.name not in kept:
                kept.append(variable.name)
    return found


def _names(ink: Ink, x: float, y: float, names: dict[str, list[str]], space: str, room: int, anchor: str) -> None:
    if space in names:
        said = fitted(", ".join(names[space]), room)
        ink.text(x, y, said, size=10.5, ink=LOOKS[space][1], bold=True, anchor=anchor)


def _held(ink: Ink, names: dict[str, list[str]]) -> None:
    """What lies in DRAM, by the memory that it is called."""
    x, y = DRAM[0] + DRAM[2] / 2, DRAM[1] + 92
    for space in ("global", "local", "constant", "texture"):
        if space not in names:
            continue
        ink.text(x, y, f"{space}:", size=10, ink=PALE, mono=False, anchor="middle")
        for line in textwrap.wrap(fitted(", ".join(names[space]), MOST_NAMES), 14):
            y += 13
            ink.text(x, y, line, size=10, ink=LOOKS[space][1], bold=True, anchor="middle")
        y += 18


def _multiprocessor(ink: Ink, gpu: GPU, names: dict[str, list[str]]) -> None:
    left, top, wide, high = SM
    for shift in (10, 5):
        ink.box(left + shift, top - shift, wide, high, "#ffffff", GREY)
    ink.box(left, top, wide, high, "#ffffff", GREY, line=1.4)
    ink.text(left, top - 26, f"{gpu.sms} multiprocessors (SM), of which one is drawn", size=11, bold=True, mono=False)
    parts, gap = gpu.partitions_per_sm, 8
    each = (wide - gap * (parts + 1)) / parts
    for number in range(parts):
        x = left + gap + number * (each + gap)
        ink.box(x, top + 10, each, 34, "#ffffff", GREY)
        units = f"{gpu.fp32_lanes_per_sm // parts} FP32"
        ink.text(x + each / 2, top + 24, "arithmetic", size=9.5, mono=False, anchor="middle")
        ink.text(x + each / 2, top + 37, units, size=9.5, mono=False, anchor="middle")
        ink.box(x, top + 50, each, 42, _PALE["register"], PALETTE["green"])
        ink.text(x + each / 2, top + 67, "registers", size=10, bold=True, mono=False, anchor="middle")
        if number == 0 and "register" in names:
            _names(ink, x + each / 2, top + 83, names, "register", 9, "middle")
        else:
            size = bytes_text(4 * gpu.registers_per_sm / parts)
            ink.text(x + each / 2, top + 82, size, size=10, mono=False, anchor="middle")
    _wide(ink, top + 100, 48, "near", "orange", "L1 and shared memory", bytes_text(gpu.l1_bytes))
    ink.text(left + wide - 18, top + 135, _clocks_of_near(gpu), size=10, mono=False, anchor="end")
    _names(ink, left + wide - 18, top + 118, names, "shared", 18, "end")
    _wide(ink, top + 156, 46, "host", "purple", "constant cache", "for what all lanes read alike, such as arguments")
    _names(ink, left + wide - 18, top + 174, names, "constant", 24, "end")


def _told(kernels: Sequence[VariableSpaces]) -> str:
    names = _by_space(kernels)
    where = {"register": "registers", "parameter": "parameters"}
    said = "; ".join(
        f"{where.get(space, f'{space} memory')}: {', '.join(names[space])}" for space in LOOKS if space in names
    )
    return f"Variables of {', '.join(one.kernel for one in kernels)} by the memory they live in: {said}."


def _wide(ink: Ink, y: float, high: float, shade: str, edge: str, name: str, said: str) -> None:
    left, wide = SM[0] + 8, SM[2] - 16
    ink.box(left, y, wide, high, _PALE[shade], PALETTE[edge])
    ink.text(left + 10, y + 18, name, size=11, bold=True, mono=False)
    ink.text(left + 10, y + 35, said, size=10, mono=False)


def _clocks_of_near(gpu: GPU) -> str:
    if gpu.l1_latency is None:
        return ""
    return f"L1 {gpu.l1_latency:.3g} clocks, shared {gpu.shared_latency:.3g} clocks"


def _memory(ink: Ink, place, name: str, shade: str, edge: str, size: str, clocks: float | None, words) -> None:
    left, top, wide, high = place
    middle = left + wide / 2
    ink.box(left, top, wide, high, _PALE[shade], PALETTE[edge], line=1.4)
    ink.text(middle, top + 24, name, size=12, bold=True, mono=False, anchor="middle")
    ink.text(middle, top + 46, size, size=12, mono=False, anchor="middle")
    if clocks is not None:
        ink.text(middle, top + 66, f"{clocks:.3g} clocks", size=10.5, mono=False, anchor="middle")
    for row, line in enumerate(words):
        ink.text(middle, top + 132 + 15 * row, line, size=10, ink=PALE, mono=False, anchor="middle")


def _link(ink: Ink, start: float, end: float, note: str, rate: float | None, *, short: bool = False) -> None:
    y, tip = 196, 7
    ink.parts.append(
        f'<path d="M{start + 3:g} {y}l{tip} -5v10zM{end - 3:g} {y}l-{tip} -5v10z" fill="{PALE}"/>'
        f'<path d="M{start + tip:g} {y}H{end - tip:g}" stroke="{PALE}" stroke-width="2.4"/>'
    )
    middle = (start + end) / 2
    if rate is not None:
        number, unit = speed_text(rate).split(" ")
        lines = (number, unit) if short else (f"{number} {unit}",)
        for row, words in enumerate(reversed(lines)):
            ink.text(middle, y - 11 - 13 * row, words, size=10.5, bold=True, mono=False, anchor="middle")
    if note:
        ink.text(middle, y + 20, note, size=10, ink=PALE, mono=False, anchor="middle")


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
