"""The glossary as data: its entries, where prose uses them, and the links that are put in."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from helpers.workbook import glossary, style
from tests.workbook.made import code, text, written

GLOSSARY = """# Glossary

### bank

Text.

### bank conflict

*also: conflict-free*

Text.

### graph

Text.

### host

*also: CUDA host*

### sm

*also: SM, multiprocessor*

Text.
"""
ENTRIES = glossary.terms(GLOSSARY)
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def names(source: str) -> list[str]:
    return [use.term.name for use in glossary.uses([(1, source)], ENTRIES)]


def test_entries_are_read_with_their_forms():
    assert [(term.name, term.forms) for term in ENTRIES] == [
        ("bank", ()),
        ("bank conflict", ("conflict-free",)),
        ("graph", ()),
        ("host", ("CUDA host",)),
        ("sm", ("SM", "multiprocessor")),
    ]
    assert ENTRIES[1].anchor == "bank-conflict"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("A bank, two banks, a Bank.", ["bank"] * 3),
        ("Bank conflicts are conflict-free banks.", ["bank conflict", "bank conflict", "bank"]),
        ("embankment, bank-wise, bank.txt", []),
        ("The host of the party; the CUDA host.", ["host"]),  # an everyday word asks for no link
        ("one SM, two SMs, sm_80, an sm", ["sm", "sm"]),
        ("# bank\n\n`bank`\n\n```\nbank\n```\n\n| bank |\n|---|\n\n![bank](bank.svg)\n", []),
        ("[the bank](https://bank.example) and [its own](05_bank.ipynb#bank)", []),
        ("text\n\n## Links\n\nthe bank", []),
        ("[money](glossary.md#bank)", ["bank"]),
    ],
)
def test_uses_in_prose(source, found):
    assert names(source) == found


def test_first_uses_that_are_not_linked_are_found_and_mended():
    sources = [(1, "# T\n\nA bank, and banks."), (3, "An [SM](glossary.md#sm) with banks, a **Bank conflict**; SM.")]
    assert [(use.term.name, use.cell) for use in glossary.unlinked(sources, ENTRIES)] == [
        ("bank", 1),
        ("bank conflict", 3),
    ]
    new = glossary.link(sources, ENTRIES)
    assert new == {
        1: "# T\n\nA [bank](glossary.md#bank), and banks.",
        3: "An [SM](glossary.md#sm) with banks, a **[Bank conflict](glossary.md#bank-conflict)**; SM.",
    }
    assert glossary.unlinked(list(new.items()), ENTRIES) == []


def test_without_a_glossary_nothing_is_asked(tmp_path):
    assert glossary.read(tmp_path) == ()
    assert glossary.unlinked([(1, "warp")], ()) == []


def test_links_are_written_into_a_notebook(tmp_path, capsys):
    (tmp_path / "glossary.md").write_text(GLOSSARY, encoding="utf-8")
    stray = text("A [conflict](glossary.ipynb#bank-conflict) in the [glossary](glossary.ipynb).")
    path = written(tmp_path, text("# A bank"), code("bank"), text("Two banks of one SM."), stray)
    assert glossary.main([str(path)]) == 0
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.source for cell in cells] == [
        "# A bank",
        "bank",
        "Two [banks](glossary.md#bank) of one [SM](glossary.md#sm).",
        "A [conflict](glossary.md#bank-conflict) in the [glossary](glossary.md).",
    ]
    assert glossary.main([str(path)]) == 0
    assert capsys.readouterr().out == "01_made.ipynb: 2 links added\n01_made.ipynb: 0 links added\n"


def test_the_glossary_of_the_course():
    page = style.open_page(NOTEBOOKS / glossary.FILE)
    problems = style.examine(page)
    assert not problems, "\n".join(map(str, problems))
    entries = glossary.read(NOTEBOOKS)
    assert len(entries) >= 90
    assert {term.name for term in entries} >= glossary.ORDINARY
    parts = page.cells[0].source.split("\n### ")[1:]
    for name, body in (part.split("\n", 1) for part in parts):
        assert len(body.split("→")[0].split()) < 80 or "|" in body, name
        assert ".ipynb)" in body, f"{name} leads to no chapter"
