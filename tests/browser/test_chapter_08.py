"""Chapter 08 as a learner meets it: lanes and the debugger, in JupyterLab, by keyboard."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow


def said(page, explorer: str) -> str:
    label = "return document.querySelector(arguments[0]).getAttribute('aria-label')"
    return page.script(label, f".warpbook-{explorer} .warpbook-view [aria-label]")


def focus(page, selector: str):
    page.script(
        "const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center'}); e.focus()", selector
    )
    return page.browser.switch_to.active_element


def test_both_explorers_follow_the_keys_and_nothing_jumps(chapter):
    from selenium.webdriver.common.keys import Keys

    page = chapter("08")
    a_step_of_the_debugger_fits_the_screen(page)

    height = "return [...document.querySelectorAll('.warpbook-debugger, .warpbook-lanes')].map(e => e.offsetHeight)"
    page.wait("both explorers", lambda: len(page.script(height)) == 2)
    before = page.script(height)

    assert "side 1: Warp 0 of two_paths" in said(page, "lanes") and "68.2 %" in said(page, "lanes")
    page.press("warp", Keys.ARROW_RIGHT)
    page.wait("the next warp", lambda: "Warp 1 of two_paths" in said(page, "lanes"))
    focus(page, ".warpbook-lanes select").send_keys(Keys.SPACE)
    for _ in range(3):
        page.browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    page.browser.switch_to.active_element.send_keys(Keys.ENTER)
    page.wait("warps that agree", lambda: "side 32: Warp 1 of two_paths" in said(page, "lanes"))
    assert "(100 %) are useful" in said(page, "lanes")

    assert said(page, "debugger").startswith("Step 9 of ")
    page.press("step", Keys.ARROW_RIGHT)
    page.wait("the next step", lambda: said(page, "debugger").startswith("Step 10 of "))
    focus(page, ".warpbook-debugger button[title='one step back']").send_keys(Keys.SPACE)
    page.wait("one step back", lambda: said(page, "debugger").startswith("Step 9 of "))
    active = said(page, "debugger").split(" of 32 lanes")[0].split()[-1]
    focus(page, ".warpbook-debugger button[title*='other lanes active']").send_keys(Keys.ENTER)
    page.wait("fewer lanes", lambda: said(page, "debugger").split(" of 32 lanes")[0].split()[-1] != active)
    page.press("lane", Keys.END)
    page.wait("the last lane", lambda: "lane 31 · thread 31" in page.output_html())
    focus(page, ".warpbook-debugger button[title='the next step at a barrier']").send_keys(Keys.SPACE)
    page.wait("words that there is none", lambda: "There is no step to go to: next barrier." in said(page, "debugger"))

    page.wait_idle()
    assert page.script(height) == before
    assert page.cut() == []
    assert page.errors() == []


def a_step_of_the_debugger_fits_the_screen(page):
    page.slider("step")
    view = page.script(
        "const e = document.querySelector('.warpbook-debugger'); e.scrollIntoView({block: 'start'});"
        "const box = e.getBoundingClientRect(); return [box.height, box.width, window.innerHeight]"
    )
    bars = 150  # menus, tabs and tool bar of JupyterLab, and its status bar
    assert view[0] <= view[2] - bars, view
    for theme in (True, False):
        page.dark(theme)
        page.screenshot(page.folder / f"debugger-{'dark' if theme else 'light'}.png")
    assert page.errors() == []
