import json

import pytest

from helpers.data import prose


def page(folder, name, *cells):
    folder.mkdir(parents=True, exist_ok=True)
    made = [{"cell_type": kind, "source": [source]} for kind, source in cells]
    (folder / name).write_text(json.dumps({"cells": made}), encoding="utf-8")


def test_markup_code_tables_and_links_are_gone(tmp_path):
    words = "## A *heading*\n\nOne [link](other.ipynb) and `code`,\nin one line: 2 × 3 · 4.\n\n| a |\n\n```\nls\n```"
    page(
        tmp_path / "notebooks",
        "01_one.ipynb",
        ("markdown", "# T"),
        ("markdown", words),
        ("code", "x"),
        ("markdown", "end"),
    )
    assert prose.chapters(tmp_path) == {"01_one": "A heading\nOne link and code, in one line: 2 x 3 * 4."}


def test_whole_chapters_are_held_out_and_labs_are_trained_on(tmp_path):
    for number in range(8):
        page(tmp_path / "notebooks", f"{number:02}_x.ipynb", *[("markdown", f"words of {number}")] * 3)
    page(tmp_path / "labs" / "lab01_x", "lab01_x.ipynb", *[("markdown", "a lab")] * 3)
    assert prose.text(held_out=True, folder=tmp_path) == "words of 3"
    assert prose.text(folder=tmp_path).splitlines() == [f"words of {n}" for n in (0, 1, 2, 4, 5, 6, 7)] + ["a lab"]


def test_a_folder_without_chapters_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="folder of the course"):
        prose.text(folder=tmp_path)


def test_the_course_has_enough_to_learn_from():
    known, held_out = prose.text(), prose.text(held_out=True)
    assert len(known) > 500_000 and len(held_out) > 60_000
    assert set(known + held_out) <= set(map(chr, range(32, 127))) | {"\n"}
