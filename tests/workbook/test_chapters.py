"""Every notebook of the course, run from a clean kernel and read for style."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pytest

from helpers.checking.exercise import exercises
from helpers.checking.families.functions import UNRECOGNISED
from helpers.workbook import run as notebooks
from helpers.workbook import sections, style
from tests.workbook.bands import BANDS, beyond

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
CHAPTERS = [path for path in NOTEBOOKS if style.open_page(path).kind == "chapter"]
WRITTEN = {f"{number:02}" for number in range(25)}

stem = attrgetter("stem")


def number(path):
    """What the name of a chapter's file begins with, "19" or "19b"."""
    return path.name.partition("_")[0]


every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=stem)
every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=stem)


def test_the_chapters_are_there():
    assert {number(path) for path in CHAPTERS} >= WRITTEN
    assert (FOLDER / "00_start_here.ipynb").is_file()
    contents = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \d\d[b-z]? \| \[\D.+?\]\((.+?)\)", contents, re.MULTILINE) == [
        path.name for path in CHAPTERS
    ]
    assert {path.name for path in NOTEBOOKS} <= set(style.links(contents))


@pytest.mark.slow
@every_notebook
def test_it_runs(path, record_property):
    result = notebooks.run(path, budget=10 * notebooks.BUDGET)  # other tests may run meanwhile
    record_property("seconds", round(result.seconds, 1))
    assert not result.problems, "\n" + result.report()
    assert beyond(path, result.notebook) == []
    assert unrecognised(result.notebook) == []


def unrecognised(notebook):
    """The exercises whose code to start from is wrong in a way that `check` has no words for."""
    said = {
        cell.id: "".join(text for output in cell.outputs for text in notebooks.texts(output))
        for cell in notebook.cells
        if notebooks.EXERCISE in notebooks.tags(cell)
    }
    return [name for name, text in said.items() if UNRECOGNISED in text]


@pytest.mark.parametrize("chapter", sorted({band.chapter for band in BANDS}))
def test_what_is_stored_lies_within_the_bands_of_the_prose(chapter):
    (path,) = FOLDER.glob(f"{chapter}_*.ipynb")
    notebook = style.open_page(path).notebook
    assert beyond(path, notebook) == []
    for cell in notebook.cells:
        cell.outputs = []
    assert len(beyond(path, notebook)) == sum(band.chapter == chapter for band in BANDS)


@every_notebook
def test_its_style(path, record_property):
    page = style.open_page(path)
    record_property("words_per_code_line", round(style.words_per_code_line(page), 1))
    problems = style.examine(page)
    assert not problems, f"\n{path.name}\n  " + "\n  ".join(map(str, problems))


@every_chapter
def test_its_row_in_the_contents(path):
    opening = style.open_page(path).cells[0].source
    title = re.search(r"^# (.+)$", opening, re.MULTILINE)[1]
    contents = (FOLDER / "README.md").read_text(encoding="utf-8")
    minutes = sections.total(style.open_page(path).cells)
    assert f"\n| {number(path)} | [{title}]({path.name}) | {minutes} | " in contents
    assert "TODO" not in contents


@every_chapter
def test_its_minutes_are_those_of_its_sections(path):
    """`python -m helpers.workbook.tracks` writes them."""
    cells = style.open_page(path).cells
    assert sections.said(cells) == cells[0].source
    assert sections.listing(cells) in cells[0].source


@every_chapter
def test_it_asks_all_its_exercises(path):
    parts = [part for part in CHAPTERS if number(part)[:2] == number(path)[:2]]
    code = "\n".join(source for part in parts for _, source in style.open_page(part).code())
    forgotten = [key for key in exercises() if key.startswith(f"ch{number(path)[:2]}.") and f'"{key}"' not in code]
    assert not forgotten


@pytest.mark.slow
@pytest.mark.parametrize("path", [CHAPTERS[0], pytest.param(CHAPTERS[-1], marks=pytest.mark.exhaustive)], ids=stem)
def test_nbval_passes_as_an_instructor_runs_it(path):
    """On the first and the last chapter: that all run is tested above."""
    command = [sys.executable, "-m", "pytest", "--nbval-lax", str(path), "-p", "no:cacheprovider", "-q"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
