"""Operations grouped into kernels: what each kernel reads from memory and writes to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from helpers.pictures.figures import CYCLE, PALETTE, Drawing
from helpers.pictures.plots.common import shade
from helpers.pictures.plots.ink import PALE, Ink
from helpers.pictures.plots.short_values import fitted
from vgpu.base.words import plural
from vgpu.hardware.time_model import seconds_text

_WIDTH, _STEP, _LEFT, _RIGHT = 640, 21.0, 26.0, 268.0
_READ, _WRITTEN = PALETTE["sky"], PALETTE["orange"]
_FOOT = 84.0


@dataclass(frozen=True)
class Moved:
    """One kernel: its operations as text, (name, bytes) of what it reads and writes, FLOPs and registers a thread."""

    texts: tuple[str, ...]
    reads: tuple[tuple[str, int], ...]
    writes: tuple[tuple[str, int], ...]
    flops: int
    registers: int

    @property
    def nbytes(self) -> int:
        return sum(count for _, count in (*self.reads, *self.writes))


@dataclass(frozen=True)
class Summary:
    """One way to group: launches, bytes of DRAM, FLOPs and the time that is modelled."""

    name: str
    launches: int
    nbytes: int
    flops: int
    seconds: float


def bytes_text(count: float) -> str:
    """Bytes with three digits: 16.8 MB."""
    for scale, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count:.0f} bytes"


def fusion_height(operations: int) -> int:
    """Pixels of the drawing."""
    return round(26 + _STEP * operations + _FOOT)


def fusion_map(kernels: Sequence[Moved], ways: Sequence[Summary], *, gpu: str, agree: bool, rows_run: int) -> Drawing:
    """One line per operation, one band per kernel, with a box for each array that it moves, as wide as its bytes.

    ways: what stands below for comparison, the present grouping first. agree: whether the kernels, run on `rows_run`
    rows, moved the bytes that the shapes give.
    """
    ink = Ink()
    ink.text(_LEFT, 14, "operations, kernel by kernel", size=11, bold=True, mono=False)
    ink.box(_RIGHT, 5, 11, 11, _READ)
    ink.text(_RIGHT + 16, 14, "read from DRAM", size=11, mono=False)
    ink.box(_RIGHT + 112, 5, 11, 11, _WRITTEN)
    ink.text(_RIGHT + 128, 14, "written to DRAM", size=11, mono=False)
    ink.text(_WIDTH - 8, 14, "registers", size=11, mono=False, anchor="end")
    room = _WIDTH - 58 - _RIGHT
    scale = room / max(each.nbytes for each in kernels)
    scale = min(scale, 66 / max(count for each in kernels for _, count in (*each.reads, *each.writes)))
    top = 22.0
    for number, each in enumerate(kernels):
        tall = _STEP * len(each.texts)
        colour = CYCLE[number]
        ink.parts.append(
            f'<rect x="6" y="{top + 1:.5g}" width="{_WIDTH - 12}" height="{tall - 2:.5g}" rx="3" '
            f'fill="{_hex(shade(colour, 0.95))}"/>'
        )
        ink.box(10, top + 3, 7, tall - 6, colour)
        for line, text in enumerate(each.texts):
            ink.text(_LEFT, top + _STEP * line + 14.5, fitted(text, 33), size=11)
        middle = top + tall / 2
        left = _RIGHT
        for fill, arrays in ((_READ, each.reads), (_WRITTEN, each.writes)):
            for name, count in arrays:
                wide = max(3.0, scale * count)
                ink.box(left, middle - 8, wide - 1, 16, fill, edge="#ffffff", line=0.5)
                if wide >= 7 * len(name) + 4:
                    ink.text(left + wide / 2, middle + 4, name, size=11, anchor="middle")
                left += wide
        ink.text(_WIDTH - 12, middle + 4, each.registers, size=11, ink=PALE, anchor="end")
        top += tall
    top += 20
    columns = ((240, "launches"), (330, "DRAM bytes"), (430, "FLOPs"), (_WIDTH - 12, f"time, modelled, {gpu}"))
    for x, words in columns:
        ink.text(x, top, words, size=11, ink=PALE, mono=False, anchor="end")
    for line, way in enumerate(ways):
        y = top + 17 * (line + 1)
        ink.text(_LEFT, y, way.name, size=11, bold=line == 0, mono=False)
        cells = (str(way.launches), bytes_text(way.nbytes), _short(way.flops), seconds_text(way.seconds))
        for (x, _), cell in zip(columns, cells, strict=True):
            ink.text(x, y, cell, size=11, bold=line == 0, anchor="end")
    return ink.drawing(_said(kernels, ways, agree, rows_run), _WIDTH, fusion_height(sum(len(k.texts) for k in kernels)))


def _said(kernels: Sequence[Moved], ways: Sequence[Summary], agree: bool, rows_run: int) -> str:
    now, *others = ways
    operations = sum(len(each.texts) for each in kernels)
    beside = "; ".join(f"{way.name}: {plural(way.launches, 'launch')}, {bytes_text(way.nbytes)}" for way in others)
    proof = "and the kernels, run on" if agree else "but the kernels move other bytes, run on"
    return (
        f"{plural(operations, 'operation')} in {plural(now.launches, 'kernel')} move {bytes_text(now.nbytes)} of DRAM "
        f"({beside}). The bytes follow from the shapes, {proof} {rows_run} rows"
        f"{', moved just these (counted)' if agree else ' (counted)'}."
    )


def _short(count: int) -> str:
    for scale, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return str(count)


def _hex(colour: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)
