"""Handles in a bare page, without JupyterLab: from the pointer's pixels to places, and back to pixels."""

from __future__ import annotations

from pathlib import Path

import pytest

import helpers.pictures.widgets
from tests.browser import pointer

SOURCE = Path(helpers.pictures.widgets.__file__).with_name("drag.mjs")
STYLE = SOURCE.with_name("drag.css")
# Two places of "near" lie at one coordinate.
STAND = """
const [source, style, done] = arguments;
document.body.innerHTML = '<style>body{margin:0} figure{margin:0 0 0 20px;width:400px} svg{width:100%;display:block}'
  + style + '</style><div id="view"></div>';
const state = {
  value: '<figure><svg viewBox="0 0 200 100"></svg></figure>',
  handles: [
    {name: 'across', label: 'how far', along: 'x', line: null,
     places: [[20, 80], [40, 60], [80, 40], [160, 20]], words: ['1', '2', '4', '8']},
    {name: 'up', label: 'how high', along: 'y', line: [[-60, 0], [60, 0]],
     places: [[120, 90], [120, 70], [120, 70], [120, 30]], words: ['low', 'middle', 'middle, too', 'high']},
  ],
  at: {across: 1, up: 1},
};
const heard = {};
window.told = [];
const model = {
  get: (name) => state[name],
  set: (name, value) => { state[name] = value; },
  save_changes: () => window.told.push({...state.at}),
  on: (event, callback) => { (heard[event] ??= []).push(callback); },
};
window.say = (news) => {  // as a message from Python: all is set, then each change is told
  Object.assign(state, news);
  for (const name of Object.keys(news)) for (const callback of heard['change:' + name] ?? []) callback();
};
const address = URL.createObjectURL(new Blob([source], {type: 'text/javascript'}));
import(address).then((module) => {
  window.module = module;
  module.default.render({model, el: document.getElementById('view')});
  done('ready');
}, (error) => done(String(error)));
"""
# coordinate, where the handle stands, where it is led: the places are 20, 40, 80 and 160
NEAREST = (
    (-50, 1, 0), (20, 1, 0), (29, 1, 0), (30, 1, 1), (30, 0, 0), (31, 0, 1), (59, 1, 1), (61, 1, 2), (119, 1, 2),
    (121, 1, 3), (999, 1, 3),
)  # fmt: skip
KEYS = (
    ("ArrowRight", 1, 2), ("ArrowUp", 1, 2), ("ArrowLeft", 1, 0), ("ArrowDown", 1, 0), ("ArrowDown", 0, 0),
    ("ArrowUp", 9, 9), ("PageUp", 1, 6), ("PageUp", 7, 9), ("PageDown", 3, 0), ("Home", 5, 0), ("End", 5, 9),
    ("a", 5, None), ("Tab", 5, None),
)  # fmt: skip
# handle, pixels that the pointer goes (2 to a unit of the picture) from where it took the mark, the place it ends at
DRAGS = (
    ("across", (38, 0), 1), ("across", (42, 0), 2), ("across", (42, 300), 2), ("across", (-60, 0), 0),
    ("across", (230, 0), 3), ("up", (0, -38), 1), ("up", (0, -42), 3), ("up", (150, -42), 3), ("up", (0, 25), 0),
)  # fmt: skip


@pytest.fixture
def page(browser):
    texts = (path.read_text(encoding="utf-8") for path in (SOURCE, STYLE))
    assert browser.execute_async_script(STAND, *texts) == "ready"
    return browser


def mark(page, name):
    return page.find_element("css selector", f"[data-handle={name}]")


def ring(page, name):
    """Where the middle of a handle is in the window."""
    return pointer.centre(page, f"[data-handle={name}] .ring")


def test_a_coordinate_leads_to_the_nearest_place(page):
    places = [[20, 0], [40, 0], [80, 0], [160, 0]]
    for coordinate, at, wanted in NEAREST:
        for along in "xy":
            given = places if along == "x" else [[b, a] for a, b in places]
            found = page.execute_script("return module.nearest(...arguments)", given, along, coordinate, at)
            assert found == wanted, (coordinate, at, along)


def test_keys_lead_to_places_and_hold_at_the_ends(page):
    for key, at, wanted in KEYS:
        assert page.execute_script("return module.afterKey(...arguments)", key, at, 9) == wanted, (key, at)


def test_handles_stand_over_the_picture_and_say_what_they_are(page):
    assert ring(page, "across") == pytest.approx([20 + 2 * 40, 2 * 60], abs=0.5)
    assert ring(page, "up") == pytest.approx([20 + 2 * 120, 2 * 70], abs=0.5)
    said = {name: mark(page, "across").get_attribute(name) for name in (
        "role", "tabindex", "aria-label", "aria-orientation", "aria-valuemin", "aria-valuemax", "aria-valuenow",
        "aria-valuetext", "data-lm-suppress-shortcuts",
    )}  # fmt: skip
    assert list(said.values()) == ["slider", "0", "how far", "horizontal", "0", "3", "1", "2", "true"]
    assert mark(page, "up").get_attribute("aria-orientation") == "vertical"


@pytest.mark.parametrize(("name", "by", "wanted"), DRAGS, ids=str)
def test_the_pointer_drags_a_mark_to_the_nearest_place_of_its_track(page, name, by, wanted):
    pointer.drag(page, ring(page, name), by)
    told = page.execute_script("return told")
    assert (told[-1][name] if told else 1) == wanted
    assert mark(page, name).get_attribute("aria-valuenow") == str(wanted), "it moves at once, before Python says so"
    place = page.execute_script("return arguments[0].getAttribute('transform')", mark(page, name))
    pointer.release(page)
    pointer.drag(page, (300, 190), (5, 5))  # let go, it stays
    assert page.execute_script("return arguments[0].getAttribute('transform')", mark(page, name)) == place
    pointer.release(page)


def test_a_line_is_taken_anywhere_and_a_picture_that_changes_meanwhile_changes_nothing(page):
    x, y = ring(page, "up")
    pointer.drag(page, (x + 80, y), (0, -30))
    page.execute_script(
        "say({value: '<p>new</p><figure><svg viewBox=\"0 0 200 100\"></svg></figure>', at: {across: 2, up: 1}})"
    )
    assert page.execute_script("return document.activeElement.dataset.handle") == "up"
    assert ring(page, "across")[0] == pytest.approx(20 + 2 * 80, abs=0.5)
    pointer.move(page, (x + 80, y - 60))
    pointer.release(page)
    assert page.execute_script("return told").pop() == {"across": 2, "up": 3}


def test_keys_move_the_mark_that_has_the_focus(page):
    from selenium.webdriver.common.keys import Keys

    handle = mark(page, "across")
    page.execute_script("arguments[0].focus()", handle)
    page.switch_to.active_element.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.HOME)
    assert [at["across"] for at in page.execute_script("return told")] == [2, 3, 0]
    assert handle.get_attribute("aria-valuetext") == "1"
    page.switch_to.active_element.send_keys(Keys.TAB)
    assert page.execute_script("return document.activeElement.dataset.handle") == "up"


def test_what_python_says_is_followed(page):
    page.execute_script("say({at: {across: 3, up: 0}})")
    assert ring(page, "across") == pytest.approx([20 + 2 * 160, 2 * 20], abs=0.5)
    page.execute_script("say({handles: [], at: {}, value: '<pre role=alert>no such GPU</pre>'})")
    assert not mark(page, "across").is_displayed() and not mark(page, "up").is_displayed()


def test_handles_keep_to_a_picture_that_gets_narrower(page):
    page.execute_script("document.querySelector('figure').style.width = '200px'; view.style.width = '300px'")
    page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert ring(page, "across") == pytest.approx([20 + 40, 60], abs=0.5)
