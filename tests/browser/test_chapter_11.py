"""Chapter 11 as a learner meets it: chunks and streams by keyboard, pinned memory with the space bar."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

AT_ONCE = """
const [box, streams] = arguments;
box.click();
streams.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
"""
ALONE = """
fresh = widgets.swim_lanes(pipeline, chunks=(1, 32), streams=(1, 3), start=(32, 3))
fresh.controls["pinned"].value = False
print(fresh.shown.alt)
"""


def test_keys_change_chunks_streams_and_memory(chapter):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    page = chapter("11", size=None)

    def told(start: str) -> bool:
        return any(label.startswith(start) for label, _ in page.figures())

    page.wait("the first lanes", lambda: told("4 chunks in 2 streams, pinned memory: "))
    box = page.browser.find_element(By.CSS_SELECTOR, ".warpbook-swim_lanes input[type=checkbox]")
    box.send_keys(Keys.SPACE)
    page.wait("pageable memory", lambda: told("4 chunks in 2 streams, pageable memory: "))
    box.send_keys(Keys.SPACE)
    page.press("chunks", Keys.END)
    page.wait("32 chunks", lambda: told("32 chunks in 2 streams, pinned memory: "))
    # Many chunks take a while to record. A control that has not moved yet is answered in the kernel's main thread, and
    # one that has in another.
    page.script(AT_ONCE, box, page.slider("streams"))
    page.wait("both to be as they are", lambda: told("32 chunks in 3 streams, pageable memory: "))
    page.wait_idle()
    alone = page.ask(ALONE)
    assert [label for label, _ in page.figures() if label.startswith("32 chunks in 3 streams, pageable")] == [alone]
    page.press("chunks", Keys.HOME)
    page.wait("one chunk", lambda: told("1 chunk in 3 streams, pageable memory: "))
    assert page.cut() == [] and page.errors() == []
