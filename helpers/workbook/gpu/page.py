"""A file of results as tables in Markdown, and as a page of HTML with a chart of each ladder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from helpers.pictures.figures import PALETTE, Picture, new, show, styled
from helpers.pictures.plots.speedups import rounded
from helpers.workbook.gpu.ladders import LIBRARIES
from vgpu.bench import pages
from vgpu.hardware.time_model import seconds_text
from vgpu.tools.streams.spans import table

Results = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """Rows of texts under headings."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        return f"### {self.title}\n\n{pages.table(self.heads, self.rows)}\n"


def title(results: Results) -> str:
    """The GPU, its driver and the date."""
    machine = results["machine"]
    driver = machine["nvidia-smi"].get("driver_version", "of unknown version")
    return f"{machine['device']}, driver {driver}, CUDA {machine['CUDA']}, {machine['date']}"


def tables(results: Results) -> Iterator[Table]:
    """What came of each part, the packages that aren't the pinned ones, the ladders, the counters that differ."""
    parts = results["parts"]
    rows = [(name, part["summary"]) for name, part in parts.items()]
    yield Table("Parts", ("part", "result"), tuple(rows))
    failed = [(name, line) for name, part in parts.items() for line in part["failed"]]
    if failed:
        yield Table("What failed", ("part", "problem"), tuple(failed))
    machine = results["machine"]
    other = [(name, machine["packages"][name], pin) for name, pin in machine["pinned"].items()]
    if other:
        yield Table("Packages in another version than the pinned one", ("package", "here", "pinned"), tuple(other))
    for name, timings in parts.get("ladders", {}).get("ladders", {}).items():
        yield ladder(name, timings)
    differing = [
        (row["case"], row["counter"], f"{row['counted']:,}", f"{row['measured']:,}")
        for row in parts.get("counters", {}).get("rows", ())
        if row["measured"] not in (None, row["counted"])
    ]
    if differing:
        yield Table("Counters that differ", ("launch", "counter", "virtual GPU", "Nsight Compute"), tuple(differing))


def ladder(name: str, timings: Mapping[str, Mapping[str, Any]]) -> Table:
    """The versions of one chapter, each beside the library's version of the same operation."""
    rows = []
    for version, timing in timings.items():
        known = f"{version} ({LIBRARIES[version]})" if version in LIBRARIES else version
        rates = [f"{rounded(timing[unit])} {unit}" for unit in ("GB/s", "GFLOP/s") if timing[unit] is not None]
        ratio = of_library(version, timings)
        share = "" if ratio is None else f"{ratio:.1%}"
        rows.append((known, seconds_text(timing["seconds"]), ", ".join(rates), share))
    return Table(name, ("version", "median", "rate", "of the library's speed"), tuple(rows))


def of_library(version: str, timings: Mapping[str, Mapping[str, Any]]) -> float | None:
    """How fast a version is, relative to the fastest library that computes the same; None where there is none.

    Names such as "softmax, fused" begin with their operation; without a comma all of a ladder compute the same.
    """
    seconds = [timings[name]["seconds"] for name in timings if name in LIBRARIES and same(name, version)]
    return min(seconds) / timings[version]["seconds"] if seconds else None


def same(name: str, other: str) -> bool:
    return operation(name) == operation(other)


def operation(name: str) -> str:
    return name.partition(", ")[0] if ", " in name else ""


def markdown(results: Results) -> str:
    """All tables, under one heading."""
    return f"## {title(results)}\n\n" + "\n".join(each.markdown() for each in tables(results))


@styled
def times(name: str, timings: Mapping[str, Mapping[str, Any]]) -> Picture:
    """The time of each version of a ladder, on a logarithmic axis; a library's mark is an orange diamond."""
    figure, axes = new()
    for at, (version, timing) in enumerate(timings.items()):
        marker, colour = ("D", "orange") if version in LIBRARIES else ("o", "blue")
        axes.plot(timing["seconds"], at, marker, color=PALETTE[colour], ms=8)
        axes.annotate(
            seconds_text(timing["seconds"]), (timing["seconds"], at), (8, 0), textcoords="offset points", va="center"
        )
    axes.set(xscale="log", yticks=range(len(timings)), xlabel="seconds, measured; diamonds: libraries")
    axes.set_yticklabels(list(timings), fontsize=8)
    axes.grid(axis="both")
    axes.margins(x=0.15)
    axes.invert_yaxis()
    fastest = min(timings, key=lambda version: timings[version]["seconds"])
    return Picture(figure, f"{name}: the fastest is {fastest}, {seconds_text(timings[fastest]['seconds'])} (measured).")


def html(results: Results) -> str:
    """The tables and charts as one page."""
    heading = escape(title(results))
    body = [f"<h2>{escape(each.title)}</h2>{table('', each.heads, each.rows)}" for each in tables(results)]
    body += [
        show(times(name, timings)).html()
        for name, timings in results["parts"].get("ladders", {}).get("ladders", {}).items()
        if len(timings) > 1
    ]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{heading}</title>'
        f'<body style="font-family:sans-serif"><h1>{heading}</h1>{"".join(body)}</body></html>\n'
    )
