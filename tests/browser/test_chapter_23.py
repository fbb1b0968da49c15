"""Chapter 23b as a learner meets it: versions of a training step chosen by keyboard."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow


def test_keys_choose_the_versions_to_compare(chapter):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    page = chapter("23b")

    def told(start: str) -> list[str]:
        return [picture for label, picture in page.figures() if label.startswith(start)]

    (first,) = page.wait("the first and the last kept", lambda: told("From “as found” to “split sums”"))
    before, after = page.browser.find_elements(By.CSS_SELECTOR, ".warpbook-changes select")

    def choose(box, key: str) -> None:
        page.script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].focus()", box)
        for each in (Keys.SPACE, key, Keys.ENTER):
            page.browser.switch_to.active_element.send_keys(each)

    choose(after, Keys.ARROW_UP)
    (second,) = page.wait("the graph", lambda: told("From “as found” to “graph”"))
    choose(before, Keys.ARROW_DOWN)
    (third,) = page.wait("the second version", lambda: told("From “read at the end” to “graph”"))
    assert len({first, second, third}) == 3
    page.wait_idle()
    assert page.errors() == [] and page.cut() == []
