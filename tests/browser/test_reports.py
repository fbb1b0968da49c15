"""Feedback and the summary of a class in a real browser: within its policy, on a telephone, light and dark."""

from __future__ import annotations

import pytest

from helpers.grading import report
from tests.browser import axe
from tests.grading.report.made_class import LAB, PRINTS, made_class

PAGES = ("summary.html", "feedback/student01.html", "feedback/student02.html", "feedback/student04.html")
GROUND = "return getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("results")
    report.write(path, made_class(), LAB, fingerprints=PRINTS)
    return path


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [360, 900])
def test_pages_fit_and_keep_to_their_policy(browser, folder, name, width):
    size = dict(width=width, height=800, deviceScaleFactor=1, mobile=width < 500)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    grounds = set()
    for scheme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        browser.get((folder / name).as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
        grounds.add(browser.execute_script(GROUND))
        assert axe.serious(browser) == []
    assert grounds == {"rgb(255, 255, 255)", "rgb(21, 24, 28)"}, "the page's own style sheet is applied"
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def test_paper_is_white_whatever_the_screen(browser, folder):
    dark = {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    browser.get((folder / PAGES[1]).as_uri())
    assert browser.execute_script(GROUND) == "rgb(255, 255, 255)"
