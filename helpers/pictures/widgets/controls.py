"""The controls of explorers: each says its name, takes mouse and keys alike, and has a `value` to observe."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from helpers.pictures.widgets import given as checked
from vgpu.hardware.gpus import GPUS

if TYPE_CHECKING:
    import ipywidgets

WIDE, APART = "330px", "2px 16px 2px 2px"
LONGEST_BESIDE = 24
"""Characters of a value that have room beside its slider."""
_WHOLE_NAME = {"description_width": "initial"}


class Control(Protocol):
    """What an explorer uses of a control, be it one of ipywidgets or `Steps`."""

    value: Any  # a number, an option or a truth value, as the control has it

    @property
    def description(self) -> str: ...

    def observe(self, handler: Callable, names: str = ...) -> None: ...


def slider(name: str, value: int, low: int, high: int, step: int = 1) -> ipywidgets.IntSlider:
    """An integer slider that says its name, for mouse and arrow keys. ValueError for a value beyond its ends."""
    import ipywidgets

    checked.bounds(name, (low, high))
    if not low <= value <= high:
        raise ValueError(f"{name} goes from {low} to {high}; {value!r} lies outside")
    return ipywidgets.IntSlider(
        value=value,
        min=low,
        max=high,
        step=step,
        description=name,
        continuous_update=True,
        readout_format=",d",
        style=_WHOLE_NAME,
        layout=ipywidgets.Layout(width=WIDE, margin=APART),
    )


def choice(name: str, value: object, options: Iterable) -> ipywidgets.SelectionSlider | ipywidgets.Dropdown:
    """A slider over a few short values, such as the powers of two; a dropdown where one is too long to stand beside it.

    ValueError for a value that is none of them.
    """
    import ipywidgets

    every = checked.options(name, options)
    if max(len(str(each[0] if isinstance(each, tuple) else each)) for each in every) > LONGEST_BESIDE:
        return dropdown(name, value, every)
    return ipywidgets.SelectionSlider(
        value=checked.among(name, value, every),
        options=every,
        description=name,
        style=_WHOLE_NAME,
        layout=ipywidgets.Layout(width=WIDE, margin=APART),
    )


def words_for(control: Control, value: object) -> str:
    """What a control calls one of its values: the name of an option, or the value itself, as it shows it."""
    pairs = (option for option in getattr(control, "options", ()) if isinstance(option, tuple))
    shown = format(value, control.readout_format) if hasattr(control, "readout_format") else str(value)
    return next((words for words, option in pairs if option == value), shown)


def dropdown(name: str, value: object, options: Iterable) -> ipywidgets.Dropdown:
    """A list of options to choose one from, for names too long or too many for a slider.

    With keys: arrows go through it, or the space bar opens it and Enter chooses. ValueError for a value that is none of
    them.
    """
    import ipywidgets

    every = checked.options(name, options)
    return ipywidgets.Dropdown(
        value=checked.among(name, value, every),
        options=every,
        description=name,
        style=_WHOLE_NAME,
        layout=ipywidgets.Layout(width="max-content", margin=APART),
    )


def offer(control: ipywidgets.SelectionSlider | ipywidgets.Dropdown, options: list) -> None:
    """Give a control other options, and keep its value if it's one of them."""
    if list(control.options) != options:
        kept = control.value if control.value in options else options[0]
        with control.hold_sync():
            control.options = options
            control.value = kept


def toggle(name: str, value: bool = False) -> ipywidgets.Checkbox:
    """A box to tick: the space bar does it too."""
    import ipywidgets

    return ipywidgets.Checkbox(
        value=value,
        description=name,
        indent=False,
        style=_WHOLE_NAME,
        layout=ipywidgets.Layout(width="max-content", margin=APART),
    )


def gpus(name: str) -> ipywidgets.Dropdown:
    """The dropdown of all GPUs of the table, at the one of that name, whatever its case. KeyError for one it lacks."""
    return dropdown("GPU", checked.gpu_name(name), GPUS)


def suited(name: str, given: object) -> Control:
    """The control that suits what is given: (low, high) a slider, a list of options a dropdown, True or False a box."""
    if isinstance(given, bool):
        return toggle(name, given)
    if isinstance(given, tuple):
        low, high = checked.bounds(name, given)
        return slider(name, low, low, high)
    every = checked.options(name, given)
    return dropdown(name, every[0], every)


class Steps:
    """One control for going through steps: buttons back, next and play beside a slider, all of one value.

    It has the `value`, `min`, `max` and `observe` of its slider; `widget` is what is displayed.
    """

    def __init__(self, name: str, first: int, last: int, *, interval: int = 700):
        """Steps `first` to `last`, both included; playing takes the next one every `interval` milliseconds."""
        import ipywidgets

        self.slider = slider(name, first, first, last)
        self.back = self._button("◀ back", "one step back", -1)
        self.next = self._button("next ▶", "one step on", +1)
        self.player = ipywidgets.Play(
            value=first, min=first, max=last, interval=interval, show_repeat=False, tooltip="play all steps"
        )
        # In the browser, so that a slow kernel makes the player skip steps and never queue them.
        self._link = ipywidgets.jslink((self.player, "value"), (self.slider, "value"))
        self.widget = ipywidgets.HBox([self.slider, self.back, self.next, self.player])
        self.widget.add_class("warpbook-steps")

    def _button(self, words: str, tooltip: str, by: int) -> ipywidgets.Button:
        import ipywidgets

        button = ipywidgets.Button(description=words, tooltip=tooltip, layout=ipywidgets.Layout(width="80px"))
        button.on_click(lambda _: self.move(by))
        return button

    def move(self, by: int) -> None:
        """Go on by so many steps, or back when negative; the ends hold. A player that runs stops."""
        self.player.playing = False
        self.value = min(self.max, max(self.min, self.value + by))

    @property
    def description(self) -> str:
        """The name, as it stands beside the slider."""
        return self.slider.description

    @property
    def value(self) -> int:
        """The present step."""
        return self.slider.value

    @value.setter
    def value(self, value: int) -> None:
        self.slider.value = value

    @property
    def min(self) -> int:
        """The first step."""
        return self.slider.min

    @property
    def max(self) -> int:
        """The last step; set it where another control changes how many there are."""
        return self.slider.max

    @max.setter
    def max(self, last: int) -> None:
        self.slider.max = self.player.max = last

    def observe(self, handler: Callable, names: str = "value") -> None:
        """Call `handler(change)` at each change, as ipywidgets do."""
        self.slider.observe(handler, names=names)


def steps(name: str, first: int, last: int, *, interval: int = 700) -> Steps:
    """Buttons back, next and play beside a slider over the steps `first` to `last`."""
    return Steps(name, first, last, interval=interval)
