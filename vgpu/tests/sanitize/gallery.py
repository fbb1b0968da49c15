"""The whole gallery as one list, and the table of what was found: `python -m vgpu.tests.sanitize`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from vgpu.hardware import device
from vgpu.standins import cupy as cp
from vgpu.tests.sanitize import gallery_c, gallery_heap, gallery_host, gallery_pipelines, gallery_py
from vgpu.tools.sanitize import Leaks, sanitize

TITLE = "# What the sanitizer finds"
ABOUT = (
    "Each mistake stands in this folder beside a correct twin. Lines are counted within the kernel's own text. "
    "`python -m vgpu.tests.sanitize` makes this page."
)


@dataclass(frozen=True)
class Entry:
    """One mistake and its twin: `run(wrong, **options)` gives what was found, `lines` are those to be named."""

    name: str
    kind: str
    language: str
    lines: frozenset[int]
    run: Callable
    first_line: int = 1


@functools.cache
def module(source: str, wrong: bool, gpu: str = "", cooperative: bool = False) -> cp.RawModule:
    """A case's module for the modelled GPU, compiled once for all that look at it."""
    flags = ("-std=c++17", *(("-DWRONG",) if wrong else ()))
    return cp.RawModule(code=source, options=flags, enable_cooperative_groups=cooperative)


def run_c(case, wrong: bool, **more):
    def there(arg):
        if isinstance(arg, str):
            return cp.empty(32, cp.float32)
        return cp.asarray(arg) if isinstance(arg, np.ndarray) else arg

    before = device.current().name
    try:
        if case.gpu:
            device.device(case.gpu)
        kernel = module(case.source, wrong, case.gpu, case.cooperative).get_function("k")
        options = {key: value(wrong) if callable(value) else value for key, value in case.options.items()}
        args = tuple(there(arg) for arg in case.args(wrong))
        return sanitize(kernel, case.grid, case.block, args, **options, **more)
    finally:
        device.device(before)


def run_py(case, wrong: bool, **more):
    kernel, args = case.make(wrong)
    return sanitize(kernel, case.grid, case.block, args, **case.options, **more)


def run_host(case, wrong: bool):
    return case.run(wrong)


def marked(text: str, mark: str, first: int = 1) -> frozenset[int]:
    return frozenset(number for number, line in enumerate(text.splitlines(), first) if mark in line)


def entries() -> list[Entry]:
    """Every case of every gallery."""
    found = [
        Entry(case.name, case.kind, "CUDA C", marked(case.source, "//!"), partial(run_c, case))
        for case in (*gallery_c.CASES, *gallery_pipelines.CASES, *gallery_heap.CASES)
    ]
    for case in gallery_py.CASES:
        lines, first = inspect.getsourcelines(case.make(True)[0].py_func)
        found.append(
            Entry(case.name, case.kind, "Numba", marked("".join(lines), "#!", first), partial(run_py, case), first)
        )
    return found + [
        Entry(case.name, case.kind, case.language, case.lines, partial(run_host, case), case.first_line)
        for case in gallery_host.CASES
    ]


def kinds_of(found) -> set[str]:
    return ({"leak"} if len(found) else set()) if isinstance(found, Leaks) else set(found.kinds)


def named(found) -> set[int]:
    """All lines that the findings name."""
    lines = ((each.line, getattr(each, "other_line", None)) for each in found)
    return {line for pair in lines for line in pair if line is not None}


def is_found(entry: Entry, found) -> bool:
    return kinds_of(found) == {entry.kind} and named(found) == entry.lines


def table() -> str:
    """The gallery's findings in Markdown."""
    rows = ["| mistake | language | kind | lines | found | twin clean |", "| --- | --- | --- | --- | --- | --- |"]
    for entry in entries():
        wrong, right = entry.run(True), entry.run(False)
        lines = ", ".join(str(line - entry.first_line + 1) for line in sorted(named(wrong))) or "–"
        yes = {True: "yes", False: "NO"}
        rows.append(
            f"| {entry.name} | {entry.language} | {', '.join(sorted(kinds_of(wrong))) or '–'} | {lines} | "
            f"{yes[is_found(entry, wrong)]} | {yes[not len(right)]} |"
        )
    return "\n".join([TITLE, "", ABOUT, "", *rows]) + "\n"
