"""Chapter 04 as a learner meets it: in JupyterLab, in a browser, by keyboard."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow


def test_the_stride_slider_moves_the_picture_and_its_label(chapter):
    from selenium.webdriver.common.keys import Keys

    page = chapter("04", size=None)
    page.slider("stride")
    before = page.wait("figures", page.figures)
    page.screenshot(page.folder / "before.png")

    page.press("stride", Keys.ARROW_RIGHT)

    def changed() -> list:
        now = page.figures()
        if len(now) != len(before):
            return []
        return [(old, new) for old, new in zip(before, now, strict=True) if old != new]

    page.wait("a figure to change", changed)
    page.wait_idle()
    page.screenshot(page.folder / "after.png")
    for (old_label, old_picture), (new_label, new_picture) in changed():
        assert new_label != old_label, "the picture changed and its label did not"
        assert new_picture != old_picture and "<svg" in new_picture
    assert page.errors() == []
