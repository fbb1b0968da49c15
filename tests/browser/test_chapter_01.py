"""Chapter 01 as a learner meets it: the explorers moved by keyboard, nothing cut off on a small screen."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

# slider, keys to the right, what the figure's label begins with afterwards
MOVES = (
    ("elements", 1, "2^21 elements: EPYC 7742 98.7 µs, A100"),
    ("steps", 1, "2^21 elements: EPYC 7742 98.7 µs, A100"),
    ("steps", 5, "2^21 elements: EPYC 7742 3.73 ms, A100"),
    ("launches per copy", 1, "2^21 elements: EPYC 7742 3.73 ms, A100"),
    ("µs a launch", 1, "Never: 16 launches, 13"),
)


def test_the_arrow_keys_move_the_explorers(chapter):
    from selenium.webdriver.common.keys import Keys

    page = chapter("01")

    def shown(start: str) -> list[str]:
        return [picture for label, picture in page.figures() if label.startswith(start)]

    (seen,) = page.wait("the first view", lambda: shown("2^20 elements: EPYC 7742 49.3 µs"))
    for name, times, after in MOVES:
        page.press(name, *[Keys.ARROW_RIGHT] * times)
        (new,) = page.wait(after, lambda start=after: shown(start))
        assert "<svg" in new
        if "3.73" in after or name == "elements":
            assert name == "launches per copy" or new != seen, f"{name}: the picture did not change"
        seen = new
    page.wait_idle()
    page.screenshot(page.folder / "after.png")
    assert page.errors() == []
    assert page.cut() == []
