"""What all explorers are made of: named controls, one view of fixed height, a memory of what was drawn."""

from __future__ import annotations

import html
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.pictures.figures import Shown, ShownMarkup, ShownRow, View, card_height, show
from helpers.pictures.widgets.controls import Control, choice, dropdown, slider, steps, suited, toggle
from vgpu.base import own
from vgpu.base.errors import VirtualGPUError
from vgpu.base.latest_update import LatestUpdate
from vgpu.base.schedule import scheduled
from vgpu.hardware.device import current, kept

if TYPE_CHECKING:
    from vgpu.hardware.gpus import GPU

__all__ = ["Explorer", "choice", "dropdown", "explore", "slider", "steps", "toggle"]

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
OF_A_KERNEL = (VirtualGPUError, LookupError, TypeError, ValueError)
"""What a teacher's kernel may fail with at some values of the controls: shown as words, not as a traceback."""
MOST_KEPT = 500
"""Views that are kept drawn: whoever drags sees many, and each takes some tens of kilobytes."""


class Explorer:
    """Controls over a view; `draw(**values)` makes it for the values of the controls.

    `draw` returns a `Picture`, a `Markup`, or several of them to stand beside one another. Displayed, the explorer
    is a live widget. Where no widget can live (GitHub, print, a notebook that was not run) the same output shows
    the first view. A view is drawn once for each set of values and each modelled GPU. A kernel's error is shown in its
    place; so is any other error of `draw` once the explorer is made, while a first view that fails otherwise raises.

    Several threads may move controls at once: one of them draws, for the state that is the latest when it begins, and
    shows what it has drawn where that state is still the present one. What `draw` asks of the virtual GPU is its own:
    no recording, count or schedule of the cell around it has a part in it.

    `height`: pixels of the view, fixed so that the page does not jump; it must do for the largest content and its
    caption. The default is right for a wide picture with three lines of caption; see `figures.card_height`.

    `fit()` is called before each drawing, and sets controls whose range depends on others.

    `draggable`: where `draw` returns one picture with `tracks`, their marks can be dragged, which sets the controls of
    the same names. `plots.track` makes a track of axes.
    """

    def __init__(
        self,
        name: str,
        draw: Callable[..., View | Sequence[View]],
        controls: Mapping[str, Control],
        *,
        height: int | None = None,
        fit: Callable[[], None] | None = None,
        draggable: bool = False,
    ):
        import ipywidgets

        if unnamed := [each for each, control in controls.items() if not control.description.strip()]:
            raise ValueError(f"the control {unnamed[0]!r} of {name} has no description, which screen readers say")
        self.name, self.draw, self.controls, self.draggable = name, draw, dict(controls), draggable
        self._fit = fit
        self._made = self._placing = False
        self._drawn: dict[tuple, Shown | ShownMarkup | ShownRow] = {}
        self._failed: tuple = ()  # a state and what failed at it: tried again whenever it comes again
        self._drawing = threading.RLock()
        self._latest = LatestUpdate(self._update)
        if draggable:
            from helpers.pictures.widgets.draggable import Draggable

            self.view = Draggable(self.controls)
        else:
            self.view = ipywidgets.HTML()
        self.view.layout = ipywidgets.Layout(height=f"{height or card_height()}px", overflow="hidden")
        self.view.add_class("warpbook-view")
        shown = [getattr(control, "widget", control) for control in self.controls.values()]
        rows = ipywidgets.HBox(shown, layout=ipywidgets.Layout(flex_flow="row wrap"))
        self.box = ipywidgets.VBox([rows, self.view])
        self.box.add_class(f"warpbook-{name}")
        for control in self.controls.values():
            control.observe(self._changed, names="value")
        self._changed()
        self._made = True

    @property
    def values(self) -> dict[str, object]:
        """The present value of every control."""
        return {name: control.value for name, control in self.controls.items()}

    def _state(self, values: Mapping[str, object]) -> tuple:
        """All that the view depends on: the values of the controls, and the modelled GPU."""
        gpu = current()
        return tuple(values.items()), (gpu.name, id(gpu)), gpu

    @property
    def shown(self) -> Shown | ShownMarkup | ShownRow | str:
        """The view for the present values, or the message of the kernel that failed at them."""
        return self._view(self._state(self.values))

    def place(self, values: Mapping[str, object]) -> None:
        """Give controls these values, one after another, and fit the others each time; nothing is drawn."""
        self._placing = True
        try:
            for name, value in values.items():
                self.controls[name].value = value
                if self._fit is not None:
                    self._fit()
        finally:
            self._placing = False

    def html_at(self, values: Mapping[str, object]) -> str:
        """The HTML of the view for other values of the controls than the present ones, which stay as they are."""
        return _html(self._view(self._state(values)))

    def _view(self, state: tuple) -> Shown | ShownMarkup | ShownRow | str:
        """The view for this state, drawn if it was not before."""
        key, gpu = state[:-1], state[-1]
        with self._drawing:
            if key in self._drawn:
                return self._drawn[key]
            if self._failed[:1] == (key,):
                return self._failed[1]
            found = own.run_isolated(self._made_of, dict(state[0]), gpu)
            if isinstance(found, str):
                self._failed = key, found
                return found
            self._drawn[key], self._failed = found, ()
            if len(self._drawn) > MOST_KEPT:
                del self._drawn[next(iter(self._drawn))]
        return found

    def _made_of(self, values: dict[str, object], gpu: GPU) -> Shown | ShownMarkup | ShownRow | str:
        try:
            with kept(gpu), scheduled("sequential"):
                return show(self.draw(**values))
        except Exception as error:
            if not (self._made or isinstance(error, OF_A_KERNEL)):
                raise  # the cell that makes the explorer shows where
            # Moved later, it would be lost in a log, and the old view would stand beside the new values.
            return _words(error)

    def _changed(self, _change: object = None) -> None:
        if not self._placing:
            self._latest.request()

    def _update(self) -> None:
        """Show the view for the present state, unless that has changed meanwhile."""
        try:
            if self._fit is not None:
                self._fit()
            state = self._state(self.values)
            shown = self._view(state)
            if state == self._state(self.values):
                self._display(shown, dict(state[0]))
            else:
                self._latest.request()  # for this thread to do next
        except KeyboardInterrupt:
            self._display("interrupted: move a control to draw again", {})
            raise

    def _display(self, shown: Shown | ShownMarkup | ShownRow | str, values: Mapping[str, object]) -> None:
        with self.view.hold_sync():  # what is shown and what can be dragged in it arrive together
            found = _html(shown)
            self.view.value = found if isinstance(shown, str) else f'<div aria-live="polite">{found}</div>'
            if self.draggable:
                self.view.follow(getattr(shown, "tracks", {}), values)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"{self.name}({values}): {self.shown!r}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        live = self.box._repr_mimebundle_()
        shown = self.shown
        static = f"<pre>{html.escape(shown)}</pre>" if isinstance(shown, str) else shown.html()
        return {WIDGET_VIEW: live[WIDGET_VIEW], "text/html": static, "text/plain": repr(self)}


def _html(shown: Shown | ShownMarkup | ShownRow | str) -> str:
    """A view as it stands below its controls, or the message in its place."""
    if isinstance(shown, str):
        return f'<pre role="alert" style="white-space:pre-wrap">{html.escape(shown)}</pre>'
    return shown.html(inline=True, **({"width": shown.moved} if isinstance(shown, Shown) else {}))


def _words(error: Exception) -> str:
    """What is shown of an error: its message, with its name where it is none that explorers expect of a kernel."""
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return text if isinstance(error, OF_A_KERNEL) else f"{type(error).__name__}: {text}"


def explore(draw: Callable[..., View | Sequence[View]], *, height: int | None = None, **ranges: object) -> Explorer:
    """An explorer for a drawing function of your own: `explore(draw, stride=(1, 32), padded=False)`.

    Each argument of `draw` gets the control that suits what is given for it: (low, high) a slider of whole numbers
    that starts at `low`, a list of options a dropdown that starts with the first, True or False a box to tick.
    """
    return Explorer(
        getattr(draw, "__name__", "explore"),
        draw,
        {name: suited(name, given) for name, given in ranges.items()},
        height=height,
    )
