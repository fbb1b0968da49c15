"""JupyterLab as a learner finds it: a page, a way on, and nothing for teachers."""

from __future__ import annotations

import re

import pytest

from tests.workbook.made import code, text, written

pytestmark = pytest.mark.slow

KERNEL = """
text = "for nobody"
source = r'''extern "C" __global__ void k(float* x) {
    for (int i = 0; i < 3; ++i) x[i] = 1;  // three
}'''
"""


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


def test_a_kernel_in_a_string_has_the_colours_of_its_language(lab, tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    written(
        folder, text("# First"), code(KERNEL.strip()), code("for i in range(3):\n    'for'  # three"), name="a.ipynb"
    )
    page = lab(folder)
    page.open("a.ipynb")

    def colours(cell: int, word: str) -> list[str]:
        """Of each piece of text in a cell that begins so: its colour."""
        return page.script(
            "const editor = document.querySelectorAll('.jp-CodeCell .cm-content')[arguments[0]];"
            "const walker = document.createTreeWalker(editor, NodeFilter.SHOW_TEXT), found = [];"
            "while (walker.nextNode()) if (walker.currentNode.data.trim().startsWith(arguments[1]))"
            " found.push(getComputedStyle(walker.currentNode.parentElement).color);"
            "return found",
            cell,
            word,
        )

    keyword, comment, string = *colours(1, "for"), *colours(1, "# three"), *colours(1, "'for'")
    assert len({keyword, comment, string}) == 3
    page.wait("the kernel's colours", lambda: colours(0, "for") == [keyword])
    assert colours(0, "// three") == [comment]
    assert colours(0, '"for nobody"') == [string]
    assert string not in colours(0, "x[") + colours(0, "x")


PICTURE = """
from IPython.display import HTML
LOOK = 'role="img" aria-label="x" style="background:#fff;color:#222"'
HTML(f'<figure {LOOK}>Words</figure><figure class="warpbook-images" {LOOK}>Images of data</figure>')
"""


def test_lines_are_as_long_as_in_a_book_and_pictures_follow_the_theme(lab, tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    prose = " ".join(["Each thread of a warp reads one element of the row, and the next thread reads the next."] * 9)
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    written(folder, text(f"# First\n\n{prose}\n\n{table}"), code(PICTURE.strip()), name="a.ipynb")
    page = lab(folder)
    page.resize(1700, 900)
    page.open("a.ipynb")
    page.run_all()
    width, height, line = page.script(
        "const p = document.querySelector('.jp-RenderedMarkdown p'), box = p.getBoundingClientRect();"
        "return [box.width, box.height, parseFloat(getComputedStyle(p).lineHeight)]"
    )
    assert 75 <= len(prose) / round(height / line) <= 90
    assert width < 700
    left = "return document.querySelector('.jp-RenderedMarkdown {}').getBoundingClientRect().left"
    assert page.script(left.format("table")) == page.script(left.format("p"))

    def filters(dark: bool) -> list[str]:
        page.dark(dark)
        return page.script(
            "return [...document.querySelectorAll('figure[role=img]')].map(e => getComputedStyle(e).filter)"
        )

    turned, images = filters(dark=True)
    assert turned.startswith("invert(") and images == "none"
    assert filters(dark=False) == ["none", "none"]


def test_the_colours_of_a_traceback_stand_out_from_its_light_ground(lab, tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    written(folder, code('seen = {"a": 1}\nassert seen["a"] == 2, "no"'), name="a.ipynb")
    page = lab(folder)
    page.open("a.ipynb")
    page.run_all()
    page.dark(False)
    ground, *words = page.wait(
        "the traceback",
        lambda: page.script(
            "const error = document.querySelector('[data-mime-type=\"application/vnd.jupyter.stderr\"]');"
            "return error && [getComputedStyle(error).backgroundColor,"
            "...[...error.querySelectorAll('[class*=ansi-]')].map(e => getComputedStyle(e).color)]"
        ),
    )
    assert len(set(words)) > 2
    assert [word for word in words if contrast(ground, word) < 3] == [], ground


def contrast(one: str, other: str) -> float:
    """Of two opaque colours, as WCAG defines it."""
    lights = []
    for colour in (one, other):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        lights.append(0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
    return max(lights) / min(lights)
