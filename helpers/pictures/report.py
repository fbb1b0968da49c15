"""All that the tools say about one launch, on one page: `report(kernel, grid, block, args)`.

Each part is folded under a line that states its finding, in plain `<details>`, so that the page reads the same in
JupyterLab, on GitHub, on the website and in print.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vgpu.base import own
from vgpu.base.errors import ArgumentError, CompileError, Unsupported, VirtualGPUError
from vgpu.base.words import plural
from vgpu.hardware import gpus
from vgpu.hardware.device import current
from vgpu.hardware.time_model import seconds_text
from vgpu.launch.counters import COUNTERS, Counter
from vgpu.tools.prepare import prepare
from vgpu.tools.profile import Profile, profile_of
from vgpu.tools.profile_table import METRICS, Metric, number, text_table
from vgpu.tools.roofline import place
from vgpu.tools.sanitize.run import launched
from vgpu.tools.sass import sass_of
from vgpu.tools.source_cells import in_box
from vgpu.tools.streams.spans import table

if TYPE_CHECKING:
    from vgpu.hardware.gpus import GPU
    from vgpu.storage.memory import ArrayInfo
    from vgpu.tools.prepare import Dimensions, Grid
    from vgpu.tools.sanitize.findings import Findings

FIRST = 6
"""Elements of an array that are shown."""
MODEL = (
    "The time is modelled from counts and a data sheet, without cache hits. If two kernels' times differ by less than "
    "1.5×, it doesn't say which is faster."
)
_PART = "margin:0.4em 0;padding:0.2em 0.8em;border-left:3px solid var(--jp-border-color1, #8888)"
_MESSAGE = "white-space:pre-wrap;overflow-wrap:anywhere;background:transparent;color:inherit"


@dataclass(frozen=True)
class Part:
    """One part of a report: the line that states its finding, its HTML, and its text where that is short."""

    finding: str
    html: str = field(repr=False)
    text: str = field(default="", repr=False)
    open: bool = False


class Page:
    """What `report` gives: HTML for a notebook, text for a terminal, and a file to keep or to send."""

    title: str

    def save(self, path: str | Path) -> Path:
        """Write it as an HTML page; the page's path."""
        body = "font-family:system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em"
        style = f":root{{color-scheme:light dark}}body{{{body}}}"
        head = f'<meta charset="utf-8"><title>{escape(self.title)}</title><style>{style}</style>'
        page = f'<!doctype html><html lang="en">{head}{self._repr_html_()}</html>\n'
        Path(path).write_text(page, encoding="utf-8")
        return Path(path)

    def _repr_html_(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class Refused(Page):
    """Why there was no launch: the kernel doesn't compile, or its arguments or its configuration don't fit."""

    error: VirtualGPUError

    @property
    def title(self) -> str:  # type: ignore[override]
        return "The kernel doesn't compile" if isinstance(self.error, CompileError) else "The launch isn't possible"

    def __repr__(self) -> str:
        return f"{self.title}.\n\n{self.error}"

    def _repr_html_(self) -> str:
        return f'<p><strong>{self.title}.</strong></p><pre style="{_MESSAGE}">{escape(str(self.error))}</pre>'


@dataclass(frozen=True, repr=False)
class LaunchReport(Page):
    """What one launch did: its `profile`, the sanitizer's `findings`, and the `arrays` of its arguments afterwards."""

    profile: Profile
    findings: Findings
    arrays: tuple[tuple[str, str, tuple[int, ...], str], ...]
    """Name, type, shape, and the first elements in words."""

    @property
    def title(self) -> str:  # type: ignore[override]
        return self.profile.title.replace("Profile", "Report", 1)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts in order."""
        counted = self.profile
        return (
            _results(self.arrays), _mistakes(self.findings), _by_line(counted), _occupancy(counted),
            _roofline(counted), _machine_code(counted), _counters(counted),
        )  # fmt: skip

    def __repr__(self) -> str:
        return "\n\n".join([self.title, *(f"{part.finding}\n{part.text}".rstrip() for part in self.parts)])

    def _repr_html_(self) -> str:
        return f"<p><strong>{escape(self.title)}</strong></p>" + "".join(
            f'<details style="{_PART}"{" open" if part.open else ""}><summary style="cursor:pointer">'
            f"{escape(part.finding)}</summary>{part.html}</details>"
            for part in self.parts
        )


def report(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence,
    *, shared_bytes: int = 0, device: GPU | str | None = None, timeout: float | None = None, **meta: Any,
) -> LaunchReport | Refused:  # fmt: skip
    """Launch `kernel` once, under the sanitizer and with every counter on, and show what all tools say about it.

    kernel, grid, block, args, shared_bytes, device, timeout, meta: as for `profile`. The launch really changes the
    arrays. An access out of bounds is left out, and the kernel goes on. An error that prevents the launch is shown in
    place of the report.
    """
    try:
        gpu = _gpu(device)
        _, prepared, finish = prepare("report", kernel, grid, block, args, meta)
        shape = prepared.grid or grid, prepared.block or block
        dynamic = shared_bytes or prepared.shared_bytes
        with own.LAUNCHING:
            findings, done = launched(prepared, *shape, dynamic, True, timeout, prepared.cooperative, observe=True)
    except VirtualGPUError as error:
        return Refused(error)
    finish()
    tensors: list[Any] = [arg for arg in args if hasattr(arg, "data_ptr")]
    if len(tensors) != len(prepared.arrays):
        tensors = [None] * len(prepared.arrays)
    after = tuple(map(_after, prepared.arrays, tensors))
    counted = profile_of(prepared.kernel, done.counters(), dynamic, gpu)
    return LaunchReport(counted, findings, after)


def _gpu(device: GPU | str | None) -> GPU:
    if not isinstance(device, str):
        return current() if device is None else getattr(device, "models", device)
    try:
        return gpus.find(device)
    except KeyError as error:
        raise ArgumentError(error.args[0]) from None


def _after(array: ArrayInfo, tensor: Any) -> tuple[str, str, tuple[int, ...], str]:
    """The name, type and shape of an array, and what it holds, in words; `tensor`: the argument, if it's PyTorch's."""
    dtype, shape = array.dtype, tuple(array.shape)
    try:
        if np.dtype(dtype).name == dtype:
            raw = ctypes.string_at(array.address, array.nbytes)
            values = np.ndarray(shape, dtype, raw, strides=array.strides).ravel()
        else:  # bfloat16 and 8-bit floats, which NumPy lacks, stand as integers in `array`
            dtype, values = str(tensor.dtype).removeprefix("torch."), tensor.detach().float().cpu().numpy().ravel()
    except (AttributeError, TypeError, ValueError):  # a type that has no name here, or a view with gaps
        return array.name, dtype, shape, ""
    first = " ".join(f"{value:.4g}" if values.dtype.kind == "f" else str(value) for value in values[:FIRST])
    said = f"{first} …" if values.size > FIRST else first
    if values.dtype.kind == "f" and (missing := int(np.isnan(values).sum())):
        said += f" ({missing:,} of {values.size:,} are NaN)"
    return array.name, dtype, shape, said


# ---------------------------------------------------------------- the parts


def _results(arrays: Sequence[tuple[str, str, tuple[int, ...], str]]) -> Part:
    headings = ("array", "type", "shape", "after the launch")
    rows = [[name, dtype, " × ".join(map(str, shape)), said] for name, dtype, shape, said in arrays]
    text = "\n".join(text_table(headings, rows, left=3))
    return Part(f"Results: {plural(len(rows), 'array')}", in_box(table("", headings, rows)), text)


def _mistakes(found: Findings) -> Part:
    titles = list(dict.fromkeys(each.title for each in found))
    ended = "" if found.ran_to_end else "; the launch did not run to its end"
    said = f"Sanitizer: {'; '.join(titles) or 'nothing found'}{ended}"
    return Part(said, found._repr_html_(), repr(found) if titles else "", open=bool(titles))


def _by_line(counted: Profile) -> Part:
    per_request = {"sector": ("sectors_per_{}_request", "global"), "wavefront": ("wavefronts_per_shared_{}", "shared")}
    said = [
        f"{number(value)} {unit}{'s' * (value != 1)} per {memory} {op}"
        for unit, (metric, memory) in per_request.items()
        for op in ("load", "store")
        if (value := counted[metric.format(op)])
    ]
    said = said or [f"{counted['instructions']:,} warp instructions"]
    return Part(f"Profile (counted): {', '.join(said)}", counted._repr_html_(), repr(counted), open=True)


def _occupancy(counted: Profile) -> Part:
    from helpers.pictures.figures import show
    from helpers.pictures.plots.occupancy import sm_slots

    held = counted.occupancy
    headings = (
        "GPU", "registers a thread", "shared bytes a block", "blocks an SM", "warps an SM", "occupancy", "limited by",
    )  # fmt: skip
    rows = [
        [each.gpu.name, str(each.registers), f"{each.occupancy.shared_bytes:,}", str(each.occupancy.blocks_per_sm),
         f"{each.occupancy.warps_per_sm} of {each.occupancy.max_warps_per_sm}", f"{each.occupancy.fraction:.1%}",
         each.occupancy.limiter]
        for each in _on_each(counted)
    ]  # fmt: skip
    said = (
        f"Occupancy on {counted.gpu.name} (compiler): {held.fraction:.1%}, limited by {held.limiter}; "
        f"{plural(counted.registers, 'register')} a thread"
    )
    return Part(
        said,
        show(sm_slots(held, counted.gpu, prefix=f"{counted.name}: ")).html()
        + in_box(table("", headings, rows, left=(0, 6))),
    )


def _on_each(counted: Profile) -> Iterator[Profile]:
    """The profile on each GPU of the table for which the kernel can be assembled."""
    for gpu in gpus.GPUS.values():
        with contextlib.suppress(CompileError):
            yield counted.on(gpu)


def _roofline(counted: Profile) -> Part:
    from helpers.pictures.figures import show
    from helpers.pictures.plots.roofline import roofline_chart

    took = f"Roofline (modelled): {seconds_text(counted.model.seconds)} on {counted.gpu.name}"
    try:
        where = place(counted)
    except ValueError:
        return Part(f"{took}; the kernel moves no bytes", "")
    roof = "the roof" if where.flops else f"{where.memory}'s bandwidth"
    share = "" if where.share is None else f", {where.share:.0%} of {roof}"
    said = f"{took}, {where.intensity:.3g} FLOP a byte{share}, {where.state}-bound: {where.limiter}"
    chart = roofline_chart({where.name: where}, counted.gpu, where.precision)
    return Part(said, show(chart).html() + f"<p>{escape(MODEL)}</p>")


def _machine_code(counted: Profile) -> Part:
    try:
        code = sass_of(counted.kernel, counted.gpu)
    except Unsupported as error:
        return Part("Machine code (SASS): not available", f"<p>{escape(str(error))}</p>")
    return Part(
        f"Machine code (SASS, {code.arch}): {plural(len(code.instructions), 'instruction')}", code._repr_html_()
    )


def _counters(counted: Profile) -> Part:
    every: list[Counter | Metric] = [*COUNTERS, *METRICS]
    rows = [
        [each.nsight or "", each.plain, getattr(each, "origin", "counted"), number(value)]
        for each in every if (value := counted[each.key])
    ]  # fmt: skip
    named = sum(bool(row[0]) for row in rows)
    headings = ("Nsight Compute's name", "what it is", "origin", "value")
    shown = in_box(table("", headings, rows, left=range(3)))
    return Part(f"All counters: {len(rows)}, {named} under Nsight Compute's names", shown)
