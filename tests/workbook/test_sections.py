"""Sections and what they take; tracks, of which each leaves out only what the rest doesn't need."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import cli
from helpers.checking import learner_state
from helpers.workbook import run as notebooks
from helpers.workbook import sections, style, tracks
from helpers.workbook.optional import needed
from helpers.workbook.progress import progress
from tests.workbook.made import code, text, written

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
TRACKS = tracks.tracks(FOLDER)
STOPS = [(name, number) for name, track in TRACKS.items() for number in track.chapters]


def opened(number):
    (path,) = FOLDER.glob(f"{number}_*.ipynb")
    return style.open_page(path)


@pytest.mark.parametrize(("name", "number"), STOPS)
def test_a_track_needs_no_code_that_it_leaves_out(name, number):
    cells = opened(number).cells
    assert list(needed(cells, TRACKS[name].skipped(number, cells))) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "number"), STOPS)
def test_a_chapter_runs_with_the_sections_of_a_track_alone(name, number, tmp_path):
    page = opened(number)
    kept = [c for c, skipped in zip(page.cells, TRACKS[name].skipped(number, page.cells), strict=True) if not skipped]
    path = written(tmp_path, *kept, name=page.name)
    assert not notebooks.run(path).problems


def test_the_contents_list_the_tracks():
    """`python -m helpers.workbook.tracks` writes them."""
    contents = (FOLDER / "README.md").read_text(encoding="utf-8")
    for heading, table in tracks.tables(FOLDER).items():
        assert f"\n{heading}\n" in contents
        assert f"\n\n{table}\n\n" in contents
    track = TRACKS["fast"]
    hours = sum(each.minutes for number in track.chapters for each in track.of(number, opened(number).cells)) / 60
    assert 9.5 <= hours <= 10.5, "the page says about ten hours"


@pytest.fixture
def cells():
    prose = " ".join(["word"] * 400)
    return [
        text("# Title"), code("import numpy as np"), text(f"## One\n\n{prose}"), code("a = 1\n" * 24),
        code('predict("?", key="ch00-a")', "predict"), text("### Within (optional)\n\nword"), code("b = 2\n" * 12),
        text("## Two (optional)"), code('check(f, "ch00.one")', "exercise"), code("widgets.banks(k)"),
        text("## Summary\n\nword"),
    ]  # fmt: skip


def test_what_sections_take(cells):
    one, two = sections.sections(cells)
    assert (one.title, one.cells, two.title, two.cells) == ("One", range(2, 7), "Two (optional)", range(7, 10))
    assert one.minutes == pytest.approx(2 + 2 + 1 + 1, abs=0.1)
    assert one.optional == pytest.approx(1, abs=0.1)
    assert two.minutes == two.optional == pytest.approx(7 + 2, abs=0.1)


def test_the_line_that_lists_them(cells):
    assert sections.listing(cells) == "**Sections:** [One](#One) 5 + 1\N{NO-BREAK SPACE}· [Two](#Two-(optional)) (9)"


def test_a_track_counts_its_sections_alone(cells, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WARPBOOK_STATE", str(tmp_path / "state"))
    folder = tmp_path / "notebooks"
    folder.mkdir()
    written(folder, *cells, name="00_first.ipynb")
    written(folder, text("# Second"), code('predict("?", key="ch01-a")'), name="01_second.ipynb")
    (folder / "tracks.toml").write_text('[brief]\ntitle = "Brief"\nwhat = "x"\n[brief.chapters]\n00 = ["One"]\n')
    (row,) = progress(folder, "brief").rows
    assert (row.chapter.predictions, row.chapter.exercises) == (("ch00-a",), ())
    learner_state.keep(learner_state.PREDICTIONS, "ch00-a", said=1, right=True)
    assert progress(folder, "brief").step == "All done."
    assert progress(folder).step == "Next, in chapter 00: exercise ch00.one."

    monkeypatch.setattr(cli, "project_folder", lambda: tmp_path)
    assert cli.main(["progress", "--track", "brief"]) == 0
    assert cli.main(["progress", "--track", "short"]) == 2
    assert "only whole, brief, labs" in capsys.readouterr().err
    (folder / "tracks.toml").write_text('[brief]\ntitle = "Brief"\nwhat = "x"\n[brief.chapters]\n00 = ["Three"]\n')
    with pytest.raises(ValueError, match="no section 'Three'; it has One, Two"):
        progress(folder, "brief")
