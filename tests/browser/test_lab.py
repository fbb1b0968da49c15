"""The browser's test bench itself, on a small notebook with one slider over one picture."""

from __future__ import annotations

import contextlib

import pytest

from tests.workbook.made import code, text, written

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EXPLORER = """
import ipywidgets
stride = ipywidgets.IntSlider(1, 1, 32, description="stride")
view = ipywidgets.HTML()
def draw(change=None):
    svg = f'<svg width="320" height="40"><rect width="{10 * stride.value}" height="40" fill="teal"/></svg>'
    view.value = f'<figure role="img" aria-label="a bar of {stride.value}">{svg}</figure>'
stride.observe(draw, "value")
draw()
ipywidgets.VBox([stride, view])
"""


def test_a_slider_moves_a_picture(lab, tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    written(folder, text("# Bench"), code(EXPLORER.strip()), code("1 + 1"), name="bench.ipynb")
    page = lab(folder)
    page.open("bench.ipynb")
    assert page.prompts() == ["[ ]:", "[ ]:"]
    page.run_all()
    assert page.prompts() == ["[1]:", "[2]:"]

    ((label, picture),) = page.wait("the figure", page.figures)
    assert label == "a bar of 1" and 'width="10"' in picture
    from selenium.webdriver.common.keys import Keys

    page.press("stride", Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    page.wait("the label to change", lambda: page.figures()[0][0] == "a bar of 3")
    assert 'width="30"' in page.figures()[0][1]
    assert "a bar of 3" in page.output_html()
    assert page.errors() == []
    assert page.screenshot(tmp_path / "bench.png").stat().st_size > 5000


def test_errors_are_seen(lab, tmp_path):
    folder = tmp_path / "book"
    folder.mkdir()
    broken = code("import sys; print('noise', file=sys.stderr); 1 / 0")
    written(folder, text("# Broken"), broken, name="broken.ipynb")
    page = lab(folder)
    page.open("broken.ipynb")
    page.run_all()
    errors = page.wait("the errors", page.errors)
    assert any("noise" in error for error in errors)
    assert any("ZeroDivisionError" in error for error in errors)
    with pytest.raises(AssertionError, match=r"waited 0.3 s for nothing at all.*gave-up.png.*ZeroDivisionError"):
        page.wait("nothing at all", lambda: False, 0.3)


def test_a_browser_that_died_is_started_again_once(tmp_path):
    from selenium.common.exceptions import WebDriverException

    from tests.browser.started import Browser

    browser = Browser(tmp_path)
    try:
        for started in (1, 2):
            driver = browser.as_new()
            driver.get("data:text/html,<title>here</title>")
            assert (driver.title, browser.started) == ("here", started)
            with contextlib.suppress(WebDriverException):  # no answer comes any more
                driver.execute_cdp_cmd("Browser.close", {})
        with pytest.raises(AssertionError, match="Chromium died 2 times"):
            browser.as_new()
    finally:
        browser.close()
