"""Chapter 06 as a learner meets it: two schedules scrubbed by keyboard."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow


def test_keys_step_back_and_choose_another_schedule(chapter):
    from selenium.webdriver.common.keys import Keys

    page = chapter("06", size=None)
    page.slider("step")
    page.wait("the outcome of both", lambda: page.figures()[0][0].startswith("In order: counter[0] ends as 1; seed"))

    page.press("step", Keys.HOME, Keys.ARROW_RIGHT)
    page.wait("the first step", lambda: page.figures()[0][0].startswith("Step 1. in order: threads 0 and 1 at line 3"))
    page.press("right schedule", Keys.ARROW_LEFT)

    def another() -> bool:
        label = page.figures()[0][0]
        return label.startswith("Step 1.") and "seed 19" not in label

    page.wait("another schedule", another)
    assert page.errors() == []
