"""Chapter 11 as a learner meets it: chunks and streams by keyboard, pinned memory with the space bar."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
ALONE = """
fresh = widgets.swim_lanes(pipeline, chunks=(1, 32), streams=(1, 4), start=(32, 4))
fresh.controls["pinned"].value = False
print(fresh.shown.alt)
"""


def test_keys_change_chunks_streams_and_memory(lab):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    (chapter,) = FOLDER.glob("11_*.ipynb")
    page = lab(FOLDER)
    page.open(chapter.name)
    page.run_all()

    def told(start: str) -> bool:
        return any(label.startswith(start) for label, _ in page.figures())

    page.wait("the first lanes", lambda: told("4 chunks in 2 streams, pinned memory: "))
    page.press("streams", Keys.ARROW_RIGHT)
    page.wait("a third stream", lambda: told("4 chunks in 3 streams, pinned memory: "))
    page.press("chunks", Keys.HOME)
    page.wait("one chunk", lambda: told("1 chunk in 3 streams, pinned memory: "))
    box = page.browser.find_element(By.CSS_SELECTOR, ".warpbook-swim_lanes input[type=checkbox]")
    box.send_keys(Keys.SPACE)
    page.wait("pageable memory", lambda: told("1 chunk in 3 streams, pageable memory: "))

    # Many chunks take a while to record, and the page answers box and slider in threads of their own.
    box.send_keys(Keys.SPACE)
    page.press("chunks", Keys.END)
    page.wait("32 chunks", lambda: told("32 chunks in 3 streams, pinned memory: "))
    box.send_keys(Keys.SPACE)
    page.press("streams", Keys.ARROW_RIGHT)
    page.wait("both at once", lambda: told("32 chunks in 4 streams, pageable memory: "))
    page.wait_idle()
    expected = page.ask(ALONE)
    assert [label for label, _ in page.figures() if label.startswith(expected.partition(":")[0])] == [expected]
    assert page.cut() == [] and page.errors() == []
