"""The picture of vgpu/README.md, made by running its kernel. `first_light` renews it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vgpu.tools.profile import Profile
    from vgpu.tools.steps.recording import Step

PICTURE = Path(__file__).resolve().parents[3] / "vgpu" / "how_it_works.svg"
KERNEL = """extern "C" __global__
void halve(float* x, float* y, int n) {
    int i = threadIdx.x;
    if (x[i] < n)
        y[i] = x[i] / 2;
    else
        y[i] = 0;
}"""
LIMIT = 12
IN_PTX = (4, 5)  # the lines whose instructions are listed

WIDTH, MARGIN, ROW = 900, 14, 19
TOP = 62  # of the two tables
LEFT = 540  # of the second one
COLUMNS = (("line", 32), ("instructions", 384), ("lanes", 424), ("load\nsectors", 468), ("store\nsectors", 514))
CELL = 6.5  # height of a lane
_PLAIN = "DejaVu Sans, Verdana, Arial, sans-serif"
_CODE = "DejaVu Sans Mono, Menlo, Consolas, monospace"


def picture() -> str:
    """SVG text: a divergent kernel with its counters, the PTX of two lines, and 32 lanes over all steps."""
    import numpy as np

    from vgpu.standins import cupy as cp
    from vgpu.tools.profile import profile
    from vgpu.tools.steps.stepper import record

    kernel = cp.RawKernel(KERNEL, "halve")
    values, out = cp.asarray(np.arange(32, dtype=np.float32) * 7 % 32), cp.zeros(32, np.float32)
    arguments = values, out, np.int32(LIMIT)
    steps = record(kernel, 1, 32, arguments).steps
    counted = profile(kernel, 1, 32, arguments, device="A100")
    lines = sorted({step.line for step in steps if step.line is not None})
    colours: dict[int | None, str] = dict(zip(lines, _colours(len(lines)), strict=True))
    body = [*_source(counted, colours), *_ptx(steps, colours)]
    top = TOP + (len(KERNEL.splitlines()) + 1) * ROW + 44
    body += _strip(steps, colours, top)
    height = top + 24 + 32 * CELL + 86
    body += _sums(steps, counted, height - 44)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *body, "</svg>", ""])


def _colours(count: int) -> list[str]:
    from helpers.pictures.figures import CYCLE
    from helpers.pictures.plots.common import shade

    shades = (shade(CYCLE[number], 0.6 if number < len(CYCLE) else 0.8) for number in range(count))
    return ["#" + "".join(f"{round(255 * part):02x}" for part in parts) for parts in shades]


def _text(
    x: float, y: float, text: str, size: float = 12, anchor: str = "start", code: bool = False, more: str = ""
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" font-family="{_CODE if code else _PLAIN}" '
        f'text-anchor="{anchor}" xml:space="preserve"{more}>{escape(text)}</text>'
    )


def _title(x: float, y: float, text: str) -> str:
    return _text(x, y, text, 13, more=' font-weight="bold"')


def _bar(x: float, y: float, colour: str) -> str:
    return f'<rect x="{x:g}" y="{y - 13:g}" width="6" height="{ROW - 2}" fill="{colour}"/>'


def _source(counted: Profile, colours: Mapping[int | None, str]) -> list[str]:
    """CUDA C, a line a row, each with its counters."""
    found = [_title(MARGIN, 22, "CUDA C, with the counters of each line")]
    for name, right in COLUMNS[1:]:
        for number, part in enumerate(name.split("\n")):
            found.append(_text(right, TOP - 22 + 12 * number, part, 10, "end", more=' fill="#555555"'))
    of = {line.number: line for line in counted.lines}
    for number, text in enumerate(KERNEL.splitlines(), start=1):
        y = TOP + number * ROW
        found += [
            _text(COLUMNS[0][1], y, str(number), 11, "end", more=' fill="#777777"'),
            _text(50, y, text, 12, code=True),
        ]
        if number not in of:
            continue
        line = of[number]
        found.append(_bar(39, y, colours[number]))
        lanes = line["thread_instructions"] / line["instructions"]
        values = (line["instructions"], f"{lanes:.3g}", line["global_load_sectors"], line["global_store_sectors"])
        found += [
            _text(right, y, str(value), 12, "end")
            for (_, right), value in zip(COLUMNS[1:], values, strict=True)
            if value
        ]
    return found


def _ptx(steps: Sequence[Step], colours: Mapping[int | None, str]) -> list[str]:
    """The instructions of two lines in the order in which they run."""
    found = [_title(LEFT, 22, f"The PTX of lines {IN_PTX[0]} and {IN_PTX[1]}")]
    listed = dict.fromkeys((step.line, " ".join(step.instruction.split())) for step in steps if step.line in IN_PTX)
    rows = sorted(listed, key=lambda row: row[0])
    # As many rows as there is room for beside the source.
    tall = min(ROW, (len(KERNEL.splitlines()) + 1) * ROW / len(rows))
    for number, (line, instruction) in enumerate(rows):
        y = TOP - 12 + number * tall
        found += [
            f'<rect x="{LEFT + 20}" y="{y - 11:g}" width="6" height="{tall - 1.5:g}" fill="{colours[line]}"/>',
            _text(LEFT + 14, y, str(line), 10, "end", more=' fill="#777777"'),
            _text(LEFT + 33, y, instruction, 11, code=True),
        ]
    return found


def _strip(steps: Sequence[Step], colours: Mapping[int | None, str], top: float) -> list[str]:
    """A column a step: who executes is dark, whom a guard holds back is pale, who stands elsewhere is white."""
    left = 52
    wide = (WIDTH - MARGIN - left) / len(steps)
    found = [
        _title(
            MARGIN,
            top - 18,
            "The 32 lanes of the warp, step by step · pale: came along, but the guard says no · white: elsewhere",
        )
    ]
    y = top + 24
    for lane in (0, 31):
        found.append(_text(left - 6, y + (lane + 1) * CELL, f"lane {lane}", 10, "end"))
    for number, step in enumerate(steps):
        x = left + number * wide
        if number == 0 or step.line != steps[number - 1].line:
            found.append(_text(x + 1, top + 17, f"line {step.line}" if number == 0 else str(step.line), 11))
        found += _cells(x, y, wide - 1.5, step.mask, colours[step.line], 0.35)
        found += _cells(x, y, wide - 1.5, step.active, colours[step.line], 1)
        name = step.instruction.split()[1 if step.instruction.startswith("@") else 0].rstrip(";").split(".")[0]
        found.append(_text(x + wide / 2, y + 32 * CELL + 13, name, 10, "middle", code=True))
    found.append(
        f'<rect x="{left}" y="{y:g}" width="{wide * len(steps):g}" height="{32 * CELL:g}" fill="none" stroke="#bbb"/>'
    )
    return found


def _cells(x: float, y: float, wide: float, lanes: Iterable[bool], colour: str, opacity: float) -> list[str]:
    """One rectangle for each run of lanes."""
    from itertools import groupby

    found, top = [], 0
    for on, run in groupby(lanes):
        count = len(list(run))
        if on:
            found.append(
                f'<rect x="{x:.1f}" y="{y + top * CELL + 0.4:.1f}" width="{wide:.1f}" '
                f'height="{count * CELL - 0.8:.1f}" fill="{colour}" opacity="{opacity:g}"/>'
            )
        top += count
    return found


def _sums(steps: Sequence[Step], counted: Profile, top: float) -> list[str]:
    """How the strip gives the counters of one line, in words and figures of this run."""
    line = IN_PTX[1]
    columns = [step for step in steps if step.line == line]
    cells = sum(sum(step.mask) for step in columns)
    (of,) = (each for each in counted.lines if each.number == line)
    if (of["instructions"], of["thread_instructions"]) != (len(columns), cells):
        raise ValueError(f"line {line}: counted {of}, recorded {len(columns)} steps and {cells} lanes")
    return [
        _text(
            MARGIN, top,
            f"Line {line} has {len(columns)} columns: {len(columns)} instructions. They have {cells} cells: "
            f"{cells} / {len(columns)} = {cells / len(columns):.3g} active lanes an instruction.",
        ),
        _text(
            MARGIN, top + 20,
            f"Its st moves what its lanes write: {of['global_store_sectors']} sectors of 32 bytes, although "
            f"{sum(columns[-1].active)} lanes of 32 take part.",
        ),
    ]  # fmt: skip
