"""A link from a chapter to the glossary, followed in JupyterLab."""

from __future__ import annotations

import shutil

import pytest

from tests.browser.explorers import NOTEBOOKS
from tests.workbook.made import code, text, written

pytestmark = pytest.mark.slow

IN_SIGHT = """
const page = document.querySelector('.jp-MarkdownViewer');
if (!page) return [];
const place = page.getBoundingClientRect();
return [...page.querySelectorAll('h3')].filter(heading => {
    const own = heading.getBoundingClientRect();
    return own.top >= place.top && own.bottom <= place.bottom;
}).map(heading => heading.dataset.jupyterId)
"""
FOLLOW = """
[...document.querySelectorAll('.jp-Notebook a')].find(a => a.textContent == arguments[0]).click()
"""


def test_a_link_opens_the_glossary_at_its_term(lab, tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    shutil.copy(NOTEBOOKS / "glossary.md", folder)
    links = "A [warp](glossary.md#warp) meets a [bank conflict](glossary.md#bank-conflict)."
    written(folder, text(f"# Bench\n\n{links}"), code("1"), name="bench.ipynb")
    page = lab(folder)
    page.resize(1366, 768)
    page.open("bench.ipynb")
    for words in ("warp", "bank conflict"):
        page.script(FOLLOW, words)
        page.wait(f"the entry {words!r}", lambda words=words: words.replace(" ", "-") in page.script(IN_SIGHT))
        page.screenshot(tmp_path / f"{words}.png")
        page.script("window.jupyterapp.commands.execute('docmanager:open', {path: 'book/bench.ipynb'})")
