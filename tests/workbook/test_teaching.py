"""The page for instructors says what the labs' sources and the chapters say."""

from __future__ import annotations

import re
import tomllib

import pytest

from helpers.workbook import chapters, lab_table, style, tracks
from helpers.workbook.sections import sections


@pytest.fixture
def page(root):
    return (root / "labs" / "TEACHING.md").read_text(encoding="utf-8")


def test_points_and_minutes_are_those_of_the_labs(root, page):
    """`python -m helpers.workbook.lab_table` writes them."""
    assert f"{lab_table.table(root / 'labs')}\n\n" in page


def test_each_week_has_a_demonstration_that_its_chapters_have(root, page):
    weeks = tomllib.loads((root / "notebooks" / tracks.FILE).read_text(encoding="utf-8"))[tracks.WEEKS]
    row = (
        r"^\| (\d+) \| \[\d\d: (.+?)\]\(\.\./notebooks/(\S+\.ipynb)#(\S+)\) \| `widgets\.(\w+)` \| .+ \| `([\w-]+)` \|$"
    )
    shown = re.findall(row, page, re.MULTILINE)
    assert [int(week) for week, *_ in shown] == list(range(1, len(weeks) + 1))
    for (_, title, name, anchor, explorer, key), week in zip(shown, weeks, strict=True):
        chapter = chapters.read(root / "notebooks" / name)
        cells = style.open_page(chapter.path).cells
        (section,) = (each for each in sections(cells) if each.title == title)
        assert chapter.number in week["chapters"] and anchor == title.replace(" ", "-")
        assert key in chapter.predictions
        assert any(f"widgets.{explorer}(" in cells[at].source for at in section.cells)
