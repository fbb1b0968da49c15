"""Chapter 10 as a learner meets it: the roofline by keyboard and by dragging, nothing cut off on a small screen."""

from __future__ import annotations

import pytest

from tests.browser import pointer

pytestmark = pytest.mark.slow

# slider, key, how often, how the figure's label begins and ends then
MOVES = (
    ("what if: FLOP/byte", "ARROW_RIGHT", 4, "A100, FP32, bytes at DRAM", "at 8 FLOP/byte the roof is 16.3 TFLOP/s"),
    ("bandwidth", "ARROW_RIGHT", 2, "A100, 2 × bandwidth, FP32", "at 8 FLOP/byte the roof is 19.5 TFLOP/s"),
    ("arithmetic", "ARROW_RIGHT", 2, "A100, 2 × lanes, 2 × bandwidth, FP32", "is 32.6 TFLOP/s, memory-bound."),
    ("units", "ARROW_LEFT", 1, "A100, 2 × lanes, 2 × bandwidth, FP64", "the roof is 19.5 TFLOP/s, compute-bound."),
    ("bytes counted at", "ARROW_RIGHT", 1, "A100, 2 × lanes, 2 × bandwidth, FP64, bytes at L2", "compute-bound."),
)
FIRST = ".warpbook-roofline"
VIEW = f"{FIRST} .warpbook-view"
# Points of the picture for a factor of two: its axes are 267 wide for 22 octaves, 193 high for 19.7.
OCTAVE_ACROSS, OCTAVE_UP = 12.1, 9.8
# handle, octaves that it is dragged along its way, its slider and what that reads then, words of the figure's label
DRAGS = (
    ("what_if", 2, "what if: FLOP/byte", "16", "at 16 FLOP/byte the roof is 19.5 TFLOP/s, compute-bound."),
    ("what_if", -5, "what if: FLOP/byte", "1/2", "at 0.5 FLOP/byte the roof is 1.02 TFLOP/s, memory-bound."),
    ("bandwidth", 2, "bandwidth", "× 4", "A100, 4 × bandwidth, FP32, bytes at DRAM: ridge at 2.39 FLOP/byte."),
    ("bandwidth", -1.5, "bandwidth", "× 1.4", "A100, 1.4 × bandwidth, FP32, bytes at DRAM: ridge at 6.83 FLOP/byte."),
    ("arithmetic", -1, "arithmetic", "× 0.5", "A100, 0.5 × lanes, 1.4 × bandwidth, FP32, bytes at DRAM"),
)
# handle that has the focus, key, what its slider reads then; from where the drags left them
KEYS = (
    ("what_if", "ARROW_RIGHT", "what if: FLOP/byte", "0.59"),
    ("what_if", "HOME", "what if: FLOP/byte", "1/64"),
    ("bandwidth", "ARROW_UP", "bandwidth", "× 2"),
    ("arithmetic", "END", "arithmetic", "× 2"),
)


def first_figure(page) -> tuple[str, str] | None:
    """Label and SVG text of the first roofline, whatever figures stand above it."""
    found = page.script(
        f"const e = document.querySelector('{FIRST} figure[role=img]');"
        "return e && [e.getAttribute('aria-label'), e.innerHTML]"
    )
    return tuple(found) if found else None


@pytest.fixture
def page(chapter):
    page = chapter("10")
    page.wait("the first roofline", lambda: first_figure(page))
    return page


def test_keys_move_the_star_the_gpu_and_its_roofs(page):
    from selenium.webdriver.common.keys import Keys

    old = first_figure(page)[1]
    for name, key, times, start, end in MOVES:
        page.press(name, *[getattr(Keys, key)] * times)

        def moved(start=start, end=end) -> bool:
            label = first_figure(page)[0]
            return label.startswith(start) and end in label

        page.wait(f"{name}: {start} … {end}", moved)
        new = first_figure(page)[1]
        assert new != old and "<svg" in new, f"{name}: the label changed and its picture did not"
        old = new
    page.script(
        "const e = document.querySelector('.warpbook-roofline select');"
        "e.scrollIntoView({block: 'center'}); e.value = [...e.options].find(o => o.text == 'H100').value;"
        "e.dispatchEvent(new Event('change', {bubbles: true}))"
    )
    page.wait("words instead of a guess", lambda: "No document gives the L2 bandwidth" in first_figure(page)[0])
    first = page.browser.find_element("css selector", FIRST)
    handles = first.find_elements("css selector", ".warpbook-handles [data-handle]")
    assert len(handles) == 3 and not any(handle.is_displayed() for handle in handles)
    page.wait_idle()
    page.screenshot(page.folder / "after.png")
    assert page.errors() == []
    assert page.cut() == []


def readout(page, name: str) -> str:
    """What stands beside the slider of that name in the first roofline."""
    return page.script(
        "const found = [...document.querySelector('.warpbook-roofline').querySelectorAll('.widget-slider')];"
        "const slider = found.find(e => e.querySelector('label').textContent.trim() === arguments[0]);"
        "return slider.querySelector('.widget-readout').textContent",
        name,
    )


def pixels(page, points: float) -> float:
    """Points of the first roofline as pixels on the screen."""
    return points * page.script(
        "const box = arguments[0].getBoundingClientRect(); return box.width / arguments[0].viewBox.baseVal.width",
        page.browser.find_element("css selector", f"{FIRST} .warpbook-handles"),
    )


def place(page, name: str) -> tuple[float, float]:
    return pointer.centre(page.browser, f"{FIRST} [data-handle={name}] .ring")


def test_the_star_and_the_roofs_are_dragged(page):
    from selenium.webdriver.common.keys import Keys

    heights = (
        "const view = document.querySelector(arguments[0]), box = view.closest('.jp-OutputArea');"
        "return [view.getBoundingClientRect().height, box.getBoundingClientRect().height, box.scrollHeight]"
    )
    page.script("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", VIEW)
    before = page.script(heights, VIEW)
    for theme in (False, True):
        page.dark(theme)
        page.screenshot(page.folder / f"{'dark' if theme else 'light'}.png")
    top = page.script("return document.querySelector(arguments[0]).getBoundingClientRect().top", VIEW)
    for name, octaves, slider, value, words in DRAGS:
        handle = page.browser.find_element("css selector", f"{FIRST} [data-handle={name}]")
        start = place(page, name)
        across, up = (octaves, 0) if name == "what_if" else (0, octaves)
        by = pixels(page, OCTAVE_ACROSS * across), -pixels(page, OCTAVE_UP * up)
        pointer.drag(page.browser, start, by, steps=8)
        assert handle.get_attribute("aria-valuetext") == value, "the handle is there at once"
        page.wait(f"{name}: {words}", lambda words=words: words in first_figure(page)[0])
        page.wait(f"{slider}: {value}", lambda slider=slider, value=value: readout(page, slider) == value)
        page.screenshot(page.folder / f"dragging {name} to {value.replace('/', ' of ')}.png")
        pointer.release(page.browser)
        pointer.move(page.browser, (20, 20))
        ends = tuple(a + b for a, b in zip(start, by, strict=True))
        along = 0 if across else 1
        assert place(page, name)[along] == pytest.approx(ends[along], abs=4), "it stays where it was let go"
        assert readout(page, slider) == value
    for name, key, slider, value in KEYS:
        page.script("document.querySelector(arguments[0]).focus()", f"{FIRST} [data-handle={name}]")
        page.browser.switch_to.active_element.send_keys(getattr(Keys, key))
        page.wait(f"{slider}: {value}", lambda slider=slider, value=value: readout(page, slider) == value)
        assert page.script("return document.activeElement.dataset.handle") == name, "it keeps the focus"
    page.wait("the words", lambda: "A100, 2 × lanes, 2 × bandwidth" in first_figure(page)[0])
    page.wait("the words", lambda: "at 0.0156 FLOP/byte" in first_figure(page)[0])
    stood = place(page, "what_if")
    page.press("what if: FLOP/byte", Keys.END)
    page.wait("the handle to follow its slider", lambda: place(page, "what_if")[0] > stood[0] + 200)
    page.script("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", VIEW)
    assert page.script("return document.querySelector(arguments[0]).getBoundingClientRect().top", VIEW) == top
    assert page.script(heights, VIEW) == before
    page.wait_idle()
    assert page.errors() == []
    assert page.cut() == []
