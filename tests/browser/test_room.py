"""JupyterLab as a learner finds it: a page, a way on, and nothing for teachers."""

from __future__ import annotations

import pytest

from tests.workbook.made import code, text, written

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_learner_has_a_page_and_a_way_on(lab, tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    written(folder, text("# First\n\n[Contents](README.md)"), code("1 + 1"), name="first.ipynb")
    (folder / "README.md").write_text("# All chapters\n\n- [First](first.ipynb)\n", encoding="utf-8")
    page = lab(folder)
    page.resize(1366, 768)
    page.open("first.ipynb")

    menus = page.script("return [...document.querySelectorAll('.lm-MenuBar-itemLabel')].map(e => e.textContent)")
    assert "Kernel" in menus and "Nbgrader" not in menus
    assert "Validate" not in page.script("return document.querySelector('.jp-NotebookPanel-toolbar').textContent")
    panels = page.script("return [...document.querySelectorAll('.jp-SideBar .lm-TabBar-tab')].map(e => e.title)")
    assert {title.split(" (")[0] for title in panels} == {"File Browser", "Table of Contents"}
    place = page.script(
        "const place = document.querySelector('.jp-WindowedPanel-outer').getBoundingClientRect();"
        "return place.width * place.height / (innerWidth * innerHeight)"
    )
    assert place > 0.8  # of the window
    assert not page.script("return document.querySelector('.Toastify__toast, .jp-Notification-Toast')")

    page.script("document.querySelector('a[href*=README]').click()")
    heading = "//*[contains(@class, 'jp-MarkdownViewer')]//h1[contains(., 'All chapters')]"
    page.wait("the contents, drawn", lambda: page.shown(heading))
    page.script("document.querySelector('.jp-MarkdownViewer a[href*=first]').click()")
    page.wait("the chapter again", lambda: page.kernel_status() == "idle")
