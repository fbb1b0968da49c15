"""The reference of what notebooks call is what the docstrings say, and has every name."""

from __future__ import annotations

from tests.workbook import pages


def test_the_page_is_up_to_date():
    kept = pages.PAGE.read_text(encoding="utf-8")
    assert kept == pages.api(), "run `python -m tests.workbook.pages`"


def test_every_name_is_on_the_page_once():
    assert pages.left_out() == set()
    names = [name for section in pages.SECTIONS.values() for name in section]
    assert len(names) == len(set(names))
