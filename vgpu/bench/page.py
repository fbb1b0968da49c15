"""The figures of the benchmark as text, and as the page that is kept beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from vgpu.bench.pages import made_with, table

DATA, PAGE = (Path(__file__).with_name(name) for name in ("speed.json", "SPEED.md"))
Table = tuple[Sequence[str], Sequence[Sequence[str]]]  # the head, and the rows

HEAD = """\
# How fast the virtual GPU is

Written by `python -m vgpu.bench --save`: all times are measured, on one core where nothing else is said, the best of
several runs. *Counted* is a launch with counters, *sanitized* one under the sanitizer; bounds are checked in all.
*Of the roofline* is how near an uncounted launch comes to the least time a core needs for the kernel's memory traffic
or its instructions, whichever is longer; both peaks are measured beside it (a copy of as many bytes, and a loop of
multiply-adds). *Simulator* is Numba's, `NUMBA_ENABLE_CUDASIM=1`, per GPU thread.
"""


def save(report: dict) -> None:
    DATA.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(markdown(report), encoding="utf-8")


def _kernels(report: dict) -> Table:
    head = ("kernel", "counted", "lane-instr/s", "uncounted", "of the roofline", "sanitized", "compile", "simulator")
    rows = [
        (
            row["kernel"], ms(row["seconds"]), f"{row['lane_instructions'] / row['seconds'] / 1e9:.1f} G",
            ms(row["uncounted"]), f"{100 * row['of_roofline']:.0f} %",
            f"{row['sanitized'] / row['seconds']:.1f} × counted", f"{row['to_ptx'] + row['compile']:.2f} s",
            f"{row['ratio']:,.0f} × slower" if row["ratio"] else "–",
        )
        for row in report["kernels"]
    ]  # fmt: skip
    return head, rows


def _start(report: dict) -> str:
    first = ", ".join(f"{t:.2f} s in {name}" for name, t in report["start"].items() if name != "import")
    return (
        f"A launch of one nearly empty block takes {report['launch_overhead'] * 1e6:.0f} µs. `import vgpu` takes "
        f"{ms(report['start']['import'])}; from there to the end of the first kernel, {first}."
    )


def _scaling(report: dict) -> Table:
    head = ("over", "kernel", "n", "lane-instructions", "time", "ns each")
    rows = [
        (
            row["axis"], row["kernel"], f"{row['n']:,}", f"{row['lane_instructions']:,}", ms(row["seconds"]),
            f"{row['seconds'] / row['lane_instructions'] * 1e9:.3f}",
        )
        for row in report["scaling"]
    ]  # fmt: skip
    return head, rows


def ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"


def text(report: dict) -> str:
    """The figures for a terminal."""
    return "\n\n".join(
        [made_with(report["made"]), _aligned(*_kernels(report)), _start(report), _aligned(*_scaling(report))]
    )


def markdown(report: dict) -> str:
    """The figures as a page."""
    scaling = "Counted, over sizes, blocks, threads of a block, and cores (worker threads)."
    parts = [f"{HEAD}\n{made_with(report['made'])}", table(*_kernels(report), numbers=True), _start(report)]
    return "\n\n".join([*parts, "## Scaling", scaling, table(*_scaling(report), numbers=True)]) + "\n"


def _aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    place = lambda row: "  ".join(f"{cell:{'<' if i < 2 else '>'}{widths[i]}}" for i, cell in enumerate(row))
    return "\n".join(place(row).rstrip() for row in (head, *rows))
