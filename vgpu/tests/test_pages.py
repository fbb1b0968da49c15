"""The reference pages are what docstrings and tables say now, and leave nothing out."""

from __future__ import annotations

import importlib
import inspect

import pytest

import vgpu
from vgpu.launch.counters import COUNTERS
from vgpu.tests import pages
from vgpu.tools.profile_table import METRICS

pytest.importorskip("triton", reason="the page of the API has the docstring of Triton's stand-in")


@pytest.mark.parametrize("name", pages.PAGES)
def test_a_page_is_current(name):
    kept = (pages.FOLDER / name).read_text(encoding="utf-8")
    assert kept == pages.PAGES[name](), f"vgpu/{name} is out of date: run `python -m vgpu.tests.pages`"


def test_every_name_has_its_section_and_its_docstring():
    listed = [name for names in pages.SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(vgpu.__all__)
    named = ((name, pages.STAND_INS.get(name)) for name in listed)
    found = {name: importlib.import_module(module) if module else getattr(vgpu, name) for name, module in named}
    assert [name for name, each in found.items() if not inspect.getdoc(each)] == []


def test_every_counter_and_metric_is_on_the_page():
    rows = pages.counters().splitlines()
    for each in (*COUNTERS, *METRICS):
        (row,) = [row for row in rows if row.startswith(f"| `{each.key}` |")]
        assert each.plain in row and (not each.nsight or f"`{each.nsight}`" in row)


def function(a, *, b: int = 3, c: str = "x", **rest: object) -> str | None:
    """For `signature`."""


def test_signatures_are_shown_as_they_are_written():
    assert pages.signature(function) == "(a, *, b: int = 3, c: str = 'x', **rest: object) -> str | None"
