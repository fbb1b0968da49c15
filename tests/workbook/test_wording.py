"""The field's words, in everything that people read."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.workbook import style
from helpers.workbook.markdown import unfenced
from helpers.workbook.wording import FIELD_WORDS, home_made

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("labs/source/*/*.ipynb"), ROOT / "vgpu" / "README.md",
    *(page for folder in (".", "notebooks", "labs", "examples") for page in (ROOT / folder).glob("*.md")),
]  # fmt: skip
TABLES = sorted(ROOT.glob("helpers/exercises/**/*.toml"))


def said(value: object) -> Iterator[str]:
    """All texts in a table, names of mistakes and code included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from said(each)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_uses_the_words_of_the_field(path):
    texts = [unfenced(source) for _, source in style.open_page(path).markdown()]
    assert [found for text in texts for found in home_made(text)] == []


def test_exercises_use_the_words_of_the_field():
    assert len(TABLES) > 200
    tables = {path: "\n".join(said(tomllib.loads(path.read_text(encoding="utf-8")))) for path in TABLES}
    assert {path.parent.name: words for path, text in tables.items() if (words := list(home_made(text)))} == {}


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("Two loads are under way.", "in flight"),
        ("The usual cure is a barrier.", "fix, remedy, problem"),
        ("What holds the kernel up?", "limits, the bottleneck"),
        ("half of the bytes asked for", "requested"),
        ("It orders a copy.", "issue a copy"),
        ("the gradient by the weights", "gradient with respect to"),
        ("A cache holds up to 256 KiB; gradients by size; we recommend it.", None),
    ],
)
def test_what_is_found(text, better):
    assert [words for _, words in home_made(text)] == ([better] if better else [])
    assert len(FIELD_WORDS) > 20
