"""Progress: questions are read from the notebooks, answers from the learner's folder."""

from __future__ import annotations

import pytest

from helpers import cli
from helpers.checking import learner_state
from helpers.workbook import chapters
from helpers.workbook.progress import progress
from tests.workbook.made import code, text, written


@pytest.fixture
def book(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPBOOK_STATE", str(tmp_path / "state"))
    folder = tmp_path / "notebooks"
    folder.mkdir()
    ask = code('predict("How\\nmany?", [1, 2], key="ch00-a")\nx = predict("?", key="ch00-b")', "predict")
    written(folder, text("# First: things\n\n## Part"), ask, code('check(f, "ch00.one")'), name="00_first.ipynb")
    again = code('check(f, "ch02.one")\ncheck(f, "ch02.one")\ncheck(g, key="ch02.two")')
    written(
        folder, text("# Second"), code("%magic"), code("widgets.banks(k)\nwidgets.slider()"), again, name="02_b.ipynb"
    )
    written(folder, text("# Third"), code("1"), name="03_c.ipynb")
    return folder


def test_what_a_chapter_asks_is_read_from_its_cells(book):
    first, second, third = chapters.chapters(book)
    assert (first.number, first.title) == ("00", "First: things")
    assert (first.predictions, first.exercises, first.explorers) == (("ch00-a", "ch00-b"), ("ch00.one",), ())
    assert (second.predictions, second.exercises, second.explorers) == ((), ("ch02.one", "ch02.two"), ("banks",))
    assert (third.predictions, third.exercises) == ((), ())


def test_the_next_step_goes_from_predictions_to_exercises_to_the_next_chapter(book):
    assert progress(book).step == "Next, in chapter 00: start."
    learner_state.keep(learner_state.PREDICTIONS, "ch00-a", said=1, right=True)
    assert progress(book).step == "Next, in chapter 00: 1 prediction to go."
    learner_state.keep(learner_state.PREDICTIONS, "ch00-b", said=3, right=False)
    assert progress(book).step == "Next, in chapter 00: exercise ch00.one."
    learner_state.keep(learner_state.EXERCISES, "ch00.one", tried="2026-01-01")
    assert not progress(book).rows[0].done
    learner_state.keep(learner_state.EXERCISES, "ch00.one", passed="2026-01-02")
    first = progress(book).rows[0]
    assert (first.answered, first.right, first.passed, first.next) == (
        2,
        1,
        (("ch00.one", "2026-01-02"),),
        "done, 2026-01-02",
    )
    assert progress(book).step == "Next, in chapter 02: start."


def test_the_table_says_it_in_words_and_in_html(book):
    learner_state.keep(learner_state.PREDICTIONS, "ch00-a", said=1, right=True)
    shown = progress(book)
    lines = repr(shown).splitlines()
    assert lines[0].split() == ["chapter", "or", "lab", "predicted", "right", "exercises", "next", "step"]
    assert lines[2] == "00 First: things  1 of 2     1      0 of 1     1 prediction to go"
    page = shown._repr_html_()
    assert '<a href="00_first.ipynb">00 First: things</a>' in page and "width:50%" in page
    assert page.count('scope="row"') == 3


def test_labs_come_after_the_chapters(book):
    lab = book.parent / "labs" / "lab05_sums"
    lab.mkdir(parents=True)
    given = code('check(f, "lab05.total")\ncheck(g, "lab05.fill")')
    written(lab, text("# Lab 05: Sums"), given, name="lab05_sums.ipynb")
    source = book.parent / "labs" / "source" / "lab05_sums"
    source.mkdir(parents=True)
    written(source, text("# Lab 05: with solutions"), given, name="lab05_sums.ipynb")
    learner_state.keep(learner_state.EXERCISES, "lab05.total", passed="2026-01-02")
    shown = progress(book)
    assert [row.chapter.name for row in shown.rows] == ["00 First: things", "02 Second", "03 Third", "Lab 05: Sums"]
    assert repr(shown).splitlines()[5].split("  ")[0] == "Lab 05: Sums"
    assert shown.step == "Next, in lab 05: exercise lab05.fill."
    page = shown._repr_html_()
    assert '<a href="../labs/lab05_sums/lab05_sums.ipynb">Lab 05: Sums</a>' in page
    assert page.count('scope="row"') == 4


def test_an_answer_that_was_only_revealed_is_none(book):
    learner_state.keep(learner_state.PREDICTIONS, "ch00-a", answer=1, right=None)
    assert progress(book).rows[0].answered == 0


@pytest.fixture
def two_clones(tmp_path, monkeypatch):
    """Two workbooks of one user, whose data folder is new."""
    monkeypatch.delenv("WARPBOOK_STATE", raising=False)
    monkeypatch.setattr(learner_state, "shared_folder", lambda: tmp_path / "data")
    clones = [tmp_path / name / "warpbook" for name in ("one", "two")]
    for clone in clones:
        (clone / "helpers").mkdir(parents=True)
        (clone / "notebooks").mkdir()
        written(clone / "notebooks", text("# Begin"), code('predict("?", key="ch00-a")'), name="00_begin.ipynb")
        written(clone / "notebooks", text("# Go on"), code('predict("?", key="ch01-a")'), name="01_go_on.ipynb")
    return clones


def test_progress_belongs_to_a_clone(two_clones, monkeypatch):
    monkeypatch.chdir(two_clones[0] / "notebooks")
    learner_state.keep(learner_state.PREDICTIONS, "ch00-a", said=1, right=True)
    monkeypatch.chdir(two_clones[0])
    assert progress().step == "Next, in chapter 01: start."
    monkeypatch.chdir(two_clones[1])
    assert progress().step == "Next, in chapter 00: start."


def test_answers_of_an_older_version_are_pointed_out_until_there_are_others(two_clones, monkeypatch):
    monkeypatch.chdir(two_clones[0])
    shared = learner_state.shared_folder()
    assert "older version" not in repr(progress())
    (shared / learner_state.PREDICTIONS).mkdir(parents=True)
    assert f"kept answers in predictions of {shared}: move" in repr(progress())
    learner_state.keep(learner_state.PREDICTIONS, "ch00-a", said=1, right=True)
    assert "older version" not in repr(progress())


def test_off_says_so(book, monkeypatch):
    monkeypatch.setenv("WARPBOOK_STATE", "off")
    assert "nothing is kept" in repr(progress(book))


def test_the_commands_print_their_tables(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    assert cli.main(["progress"]) == 0
    assert "00 Start here" in capsys.readouterr().out
    assert cli.main(["chapters", "00", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[0].split()[:3] == ["chapter", "seconds", "cells"]
    assert lines[1].startswith("00 ") and lines[2].startswith("04 ")
    read = chapters.read(next((root / "notebooks").glob("04_*.ipynb")))
    assert lines[2].split()[-3:] == [str(len(found)) for found in (read.explorers, read.predictions, read.exercises)]


def test_the_table_of_chapters_runs_them_for_their_seconds(tmp_path):
    from helpers.workbook.chapter_table import table

    path = written(tmp_path, text("# Short\n\none two three four"), code("x = 1\nx"), name="07_short.ipynb")
    without, timed = table([path]).splitlines()[1], table([path], run=True).splitlines()[1]
    assert without.split()[2:] == ["–", "2", "1", "5", "2.5", "0", "0", "0"]
    assert float(timed.split()[2]) > 0
