"""The reference of what notebooks call, from docstrings: `python -m tests.workbook.pages` writes helpers/API.md."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import helpers
import vgpu
from helpers.pictures import contents
from vgpu.tests import pages

PAGE = Path(helpers.__file__).parent / "API.md"
MADE = "<!-- Made by `python -m tests.workbook.pages`: edit the docstrings instead. -->"
SECTIONS = {
    "Ask and check": ("predict", "reveal", "check", "hint", "solution", "probe", "progress"),
    "Show": ("show", "report", "training"),
    "Measure and compare": (
        "benchmark", "paired", "cold_start", "during", "ladder", "published_ladder", "diagnose", "ChangeLog", "Count",
        "Published", "StepLog", "repeats",
    ),
    "Look into PyTorch": (
        "operations", "dispatched", "readbacks", "inductor", "memory_line", "CachingAllocator", "replay", "stretched",
        "trace_spans", "TraceSpan",
    ),
    "Several processes": ("ranks", "torchrun"),
    "Models": (
        "dram", "dram_at", "fusion_table", "growth", "grown_ladder", "layers", "classifier_cost", "cached", "hit_rate",
        "schedule", "bytes_in_flight", "separate_bytes", "tiled_bytes",
    ),
    "Data": ("glyphs", "prose", "rivers", "files"),
    "Explorers and plots": ("widgets", "plots"),
}  # fmt: skip
"""All names of `helpers` that aren't the engine's, by what they are for."""
TABLES = ("FORMATS",)
"""Names that are data."""
LONGEST = 12
"""Characters of a default that is shown."""


def api() -> str:
    """The page: sections, names, signatures, docstrings; explorers and plots with the question that each answers."""
    parts = [f"# What notebooks call\n\n{MADE}\n\n{inspect.getdoc(helpers)}"]
    parts.append("`from helpers import …` gives all names of [`vgpu`](../vgpu/API.md) too.")
    for title, names in SECTIONS.items():
        parts += [f"## {title}", *(part for name in names for part in _of(name))]
    return "\n\n".join(parts) + "\n"


def _of(name: str) -> Iterator[str]:
    thing = getattr(helpers, name)
    if not isinstance(thing, ModuleType):
        yield from pages.of_callable(name, thing)
        return
    yield f"### {name}\n\n{inspect.getdoc(thing)}"
    if name in ("widgets", "plots"):
        yield "\n".join(
            f"- `{name}.{inner}({_parameters(getattr(thing, inner))})`: {entry.question}"
            for inner, entry in contents.named(name).items()
        )
        return
    for inner, value in pages.public(thing):
        yield from pages.of_callable(f"{name}.{inner}", value)


def _parameters(function: Callable) -> str:
    """A function's parameters without types; a default that is long, or differs from run to run, is `...`."""
    words = []
    for each in inspect.signature(function).parameters.values():
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        if each.kind is each.KEYWORD_ONLY and not any(word.startswith("*") for word in words):
            words.append("*")
        short = repr(each.default) if len(repr(each.default)) <= LONGEST else "..."
        words.append(f"{star}{each.name}" + ("" if each.default is each.empty else f"={short}"))
    return ", ".join(words)


def left_out() -> set[str]:
    """The names of `helpers` that the page has not, and no table is."""
    shown = {name for names in SECTIONS.values() for name in names}
    return set(helpers.__all__) - set(vgpu.__all__) - shown - set(TABLES)


if __name__ == "__main__":
    PAGE.write_text(api(), encoding="utf-8")
    print(f"{PAGE.name} is written.")
