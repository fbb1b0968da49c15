"""What explorers are made of, in JupyterLab: keys reach every control, nothing jumps, nothing is cut."""

from __future__ import annotations

import pytest

from tests.workbook.made import code, text, written

pytestmark = pytest.mark.slow

EXPLORER = """
from helpers import plots, widgets
from helpers.pictures.figures import Markup
def draw(step, padded, kernel, launches, size):
    words = f"Step {step} of the {kernel}, {'padded' if padded else 'plain'}, with {launches} launches in the queue."
    return plots.timer_bars(4, launches), Markup(f"<pre>{'line<br>' * step}</pre>", words, width=220)
controls = {
    "step": widgets.steps("step", 0, 6, interval=200),
    "padded": widgets.toggle("rows padded to whole sectors"),
    "kernel": widgets.dropdown("kernel", "naive", ["naive", "tiled, with padding"]),
    "launches": widgets.slider("launches", 1, 1, 12),
    "size": widgets.choice("size", 64, [("64 KiB", 64), ("1 MiB", 1024)]),
}
widgets.Explorer("bench", draw, controls, height=430)
"""


@pytest.fixture
def page(lab, tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    written(folder, text("# Bench"), code(EXPLORER.strip()), text("after"), name="bench.ipynb")
    page = lab(folder)
    page.resize(1366, 768)
    page.open("bench.ipynb")
    page.run_all()
    page.wait("the figure", page.figures)
    return page


def said(page) -> str:
    return page.script("return document.querySelector('.warpbook-view [role=group]').getAttribute('aria-label')")


def test_keys_reach_every_control_and_nothing_jumps(page, tmp_path):
    from selenium.webdriver.common.keys import Keys

    height = "return document.querySelector('.jp-OutputArea .warpbook-bench').getBoundingClientRect().height"
    before = page.script(height)

    def focus(selector: str):
        page.script(
            "const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center'}); e.focus()", selector
        )
        return page.browser.switch_to.active_element

    focus(".warpbook-steps button[title='one step on']").send_keys(Keys.ENTER)
    page.wait("the next step", lambda: said(page).startswith("Step 1 "))
    focus(".warpbook-bench input[type=checkbox]").send_keys(Keys.SPACE)
    page.wait("the box to be ticked", lambda: "padded" in said(page))
    focus(".warpbook-bench select").send_keys(Keys.ARROW_DOWN)
    page.wait("the other kernel", lambda: "tiled, with padding" in said(page))
    page.press("launches", Keys.END)
    page.wait("twelve launches", lambda: "12 launches" in said(page))
    focus(".warpbook-steps .widget-play button").send_keys(Keys.ENTER)
    page.wait("the player to reach the last step", lambda: said(page).startswith("Step 6 "))
    focus(".warpbook-steps button[title='one step back']").send_keys(Keys.SPACE)
    page.wait("one step back", lambda: said(page).startswith("Step 5 "))

    assert page.script(height) == before
    assert page.cut() == []
    for theme in (False, True):
        page.dark(theme)
        page.screenshot(tmp_path / f"bench-{'dark' if theme else 'light'}.png")
    assert page.errors() == []

    page.script("document.querySelector('.warpbook-view').style.height = '100px'")
    assert any("warpbook-view" in found for found in page.cut())


NAMES = [
    "step", "◀ back", "next ▶", "play", "stop", "rows padded to whole sectors", "kernel", "launches", "size",
]  # fmt: skip


def test_every_control_has_a_name_and_says_the_value_that_is_shown(page):
    """As the browser tells them to a screen reader."""
    parts = page.browser.find_elements("css selector", ".warpbook-bench :is(button, select, input, [role=slider])")
    assert [each.accessible_name for each in parts if each.is_displayed()] == NAMES
    page.press("size", "\ue014")
    page.wait("the value in words", lambda: page.slider("size").get_attribute("aria-valuetext") == "1 MiB")
