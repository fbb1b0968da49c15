"""The page of plots and widgets: each has a question and a picture, and stands beside the cells that use it."""

import inspect
from collections import Counter
from pathlib import Path

import pytest

from helpers import cli, plots, widgets
from helpers.pictures.contents import ENTRIES
from helpers.workbook.authoring import index
from helpers.workbook.run import NOT_STORED

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def cards():
    return {card.name: card for card in index.cards(ROOT)}


def test_every_public_plot_and_widget_answers_a_question_of_its_own():
    assert not [entry for entry in ENTRIES if not (entry.question.endswith("?") and entry.question.count(" ") > 3)]
    assert Counter(entry.question for entry in ENTRIES).most_common(1)[0][1] == 1
    drawing = {entry.name for entry in ENTRIES if entry.kind == "plots"}
    assert {
        name for name in plots.__all__ if inspect.signature(getattr(plots, name)).return_annotation != "Track"
    } == drawing
    assert not [name for name in widgets.EXPLORERS if "Explorer" not in str(inspect.signature(getattr(widgets, name)))]


def test_each_is_used_and_has_a_picture_unless_all_its_cells_depend_on_a_clock(cards):
    assert len(cards) == len(ENTRIES)
    assert not [name for name, card in cards.items() if not (card.uses or card.widgets)]
    bare = [card for card in cards.values() if not card.picture]
    assert not [card.name for card in bare if not all(NOT_STORED in use.tags for use in card.uses)]
    assert [card.name for card in bare] == ["plots.run_bars"]


SHARED = {"plots.sector_panels": "the first picture of the README is drawn by it"}


def test_what_one_chapter_alone_uses_stands_in_the_file_of_that_chapter(cards):
    for card in (card for card in cards.values() if card.entry.kind == "plots"):
        chapters = {use.notebook.name[:2] for use in card.uses}
        alone = len(chapters) == 1 and not card.widgets and card.name not in SHARED
        where = (card.entry.module == f"chapters.ch{min(chapters)}") if alone else ("chapters" not in card.entry.module)
        assert where, card.name


def test_the_command_writes_the_page(tmp_path, capsys):
    assert cli.main(["index", str(tmp_path / "a" / "b")]) == 0
    page = Path(capsys.readouterr().out.strip())
    text = page.read_text(encoding="utf-8")
    assert page == tmp_path / "a" / "b" / "index.html" and text.count("<article") == len(ENTRIES)
    assert "04_coalescing</a>, cell " in text and 'drawn by <a href="#widgets.banks">' in text
