"""Chapter 12 as a learner meets it: a time line gone through and cards chosen by keyboard, nothing cut off."""

from __future__ import annotations

import pytest

from tests.browser import axe

pytestmark = pytest.mark.slow

MOVES = (
    # slider, key, what the view's label begins with before and after it
    ("operation", "ARROW_LEFT", "one thread: operation 3 of 3", "one thread: operation 2 of 3"),
    ("zoom", "ARROW_RIGHT", "one thread: operation 2 of 3", "one thread: operation 2 of 3"),
    ("program", "ARROW_RIGHT", "one thread: operation 2 of 3", "many small: operation 2 of 14"),
    ("kernel", "ARROW_RIGHT", "chunks: uncoalesced access", "side by side: memory-bound (modelled"),
    ("GPU", "ARROW_RIGHT", "side by side: memory-bound", "side by side: memory-bound (modelled"),
)
LABELLED = (
    "return [...document.querySelectorAll('.jp-OutputArea .warpbook-view [aria-label]')]"
    ".map(e => [e.getAttribute('aria-label'), e.innerHTML])"
)


def test_the_arrow_keys_move_every_explorer(chapter):
    from selenium.webdriver.common.keys import Keys

    page = chapter("12")
    for name, key, before, after in MOVES:
        page.slider(name)

        def shown(start: str, other: str = "") -> list[str]:
            return [body for label, body in page.script(LABELLED) if label.startswith(start) and body != other]

        (old,) = page.wait(before, lambda start=before: shown(start))
        page.press(name, getattr(Keys, key))
        page.wait(after, lambda start=after, old=old: shown(start, old))
    page.wait_idle()
    page.screenshot(page.folder / "after.png")
    assert page.errors() == []
    assert page.cut() == []
    for theme in (False, True):
        page.dark(theme)
        assert axe.serious(page.browser, ".jp-OutputArea") == []
