"""Controls: each says its name, keeps to its ends, and tells an explorer when it moves."""

import pytest

from helpers import plots, widgets
from helpers.pictures.figures import Markup, Picture, ShownRow, new
from helpers.pictures.widgets import EXPLORERS
from helpers.pictures.widgets.controls import choice, dropdown, slider, steps, toggle
from helpers.pictures.widgets.explorer import Explorer

CONTROLS = {
    "slider": lambda: (slider("a name", 2, 1, 9), 3),
    "choice": lambda: (choice("a name", 2, (2, 4)), 4),
    "dropdown": lambda: (dropdown("a name", "x", ["x", "y"]), "y"),
    "toggle": lambda: (toggle("a name"), True),
    "steps": lambda: (steps("a name", 0, 5), 3),
}


def bar(**values):
    return Markup(f"<pre>{values}</pre>", f"The controls stand at {values}, as they were left.")


@pytest.mark.parametrize("kind", CONTROLS)
def test_every_control_says_its_name_and_moves_the_view(kind):
    control, other = CONTROLS[kind]()
    assert control.description == "a name"
    explorer = Explorer("e", bar, {"it": control})
    control.value = other
    assert f"The controls stand at {{'it': {other!r}}}" in explorer.shown.alt
    assert "aria-live" in explorer.view.value


@pytest.mark.parametrize("make", [lambda: toggle(""), lambda: slider(" ", 2, 1, 9), lambda: steps("", 0, 5)])
def test_a_control_without_a_name_is_refused(make):
    with pytest.raises(ValueError, match="'it' of e has no description"):
        Explorer("e", bar, {"it": make()})


def test_a_picture_below_controls_is_wider_and_has_room():
    explorer = Explorer("e", lambda it: Picture(new()[0], f"The control stands at {it}, as it was left."), {
        "it": slider("a name", 2, 1, 9)})  # fmt: skip
    assert "max-width:819px" in explorer.view.value
    assert (
        int(explorer.view.layout.height.removesuffix("px")) > 819 / 2
    )  # as high as it is wide, halved, and its caption


def test_steps_go_on_and_back_and_hold_at_the_ends():
    control = steps("step", 1, 3)
    seen = []
    control.observe(lambda change: seen.append(change["new"]))
    control.next.click()
    control.next.click()
    control.next.click()
    control.back.click()
    assert seen == [2, 3, 2]
    control.max = 2
    control.next.click()
    assert control.value == 2 == control.player.max
    control.max = 1
    assert control.value == 1


def test_explore_gives_each_argument_the_control_that_suits_it():
    explorer = widgets.explore(bar, n=(3, 5), padded=True, kernel=["naive", "tiled"])
    assert explorer.values == {"n": 3, "padded": True, "kernel": "naive"}
    names = [type(control).__name__ for control in explorer.controls.values()]
    assert names == ["IntSlider", "Checkbox", "Dropdown"]


def test_views_stand_beside_one_another():
    explorer = widgets.explore(lambda n: (plots.timer_bars(4, n), bar(n=n)), n=(1, 5), height=500)
    assert isinstance(explorer.shown, ShownRow) and explorer.view.layout.height == "500px"
    page = explorer.view.value
    assert page.index("<figure") < page.index('role="group"')
    assert explorer.shown.alt.endswith("as they were left.") and explorer.shown.alt.startswith("1 launch:")
    assert "<img" in explorer._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("error", [LookupError("no load"), ValueError("too <wide>"), TypeError("3 arguments")])
def test_what_a_kernel_fails_with_is_shown_as_words(error):
    def draw(n):
        raise error

    explorer = widgets.explore(draw, n=(1, 2))
    assert 'role="alert"' in explorer.view.value
    assert "no load" in explorer.view.value or "too &lt;wide&gt;" in explorer.view.value or "3 arg" in repr(explorer)


@pytest.mark.parametrize("name", EXPLORERS)
def test_every_explorer_of_the_table_can_be_called(name):
    assert callable(getattr(widgets, name))
    __import__(f"helpers.pictures.{EXPLORERS[name].module}")  # which must not take the function's place
    assert callable(getattr(widgets, name))


def test_an_unknown_explorer_is_told_what_there_is():
    with pytest.raises(AttributeError, match="sectors, slider"):
        _ = widgets.sector


def test_a_step_by_hand_stops_the_player():
    control = steps("step", 0, 6)
    control.player.playing = True
    control.move(+1)
    assert control.value == 1 and not control.player.playing
