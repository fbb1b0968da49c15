"""The pointer in a page, by places of the window: to take something, drag it, and look before letting go.

selenium's own `move_to_element` scrolls the page on its way to a part of an SVG image.
"""

from __future__ import annotations

from selenium.webdriver import Chrome
from selenium.webdriver.common.actions.action_builder import ActionBuilder

STEP = 20  # milliseconds


def centre(browser: Chrome, selector: str) -> tuple[float, float]:
    """Where in the window the middle of an element is."""
    return tuple(
        browser.execute_script(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [box.left + box.width / 2, box.top + box.height / 2]",
            selector,
        )
    )


def drag(browser: Chrome, start: tuple[float, float], by: tuple[float, float], steps: int = 2) -> None:
    """Press at a place of the window and go by so many pixels, in steps, without letting go."""
    actions = ActionBuilder(browser, duration=STEP)
    pointer, (x, y), (dx, dy) = actions.pointer_action, start, by
    pointer.move_to_location(round(x), round(y))
    pointer.pointer_down()
    for step in range(1, steps + 1):
        pointer.move_to_location(round(x + dx * step / steps), round(y + dy * step / steps))
    actions.perform()


def move(browser: Chrome, place: tuple[float, float]) -> None:
    """Go on to a place of the window."""
    actions = ActionBuilder(browser, duration=STEP)
    actions.pointer_action.move_to_location(*map(round, place))
    actions.perform()


def release(browser: Chrome) -> None:
    """Let go."""
    actions = ActionBuilder(browser, duration=STEP)
    actions.pointer_action.pointer_up()
    actions.perform()
