"""What all explorers are made of: named controls, one picture of fixed height, a memory of what was drawn."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping

from helpers.figures import Picture, Shown, show
from helpers.vgpu.errors import VirtualGPUError

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
VIEW_HEIGHT = "392px"
"""Fixed, so that the page does not jump when a caption grows by a line: card 630 px wide, two lines of
caption."""


class Explorer:
    """Controls over a picture; `draw(**values)` makes the `Picture` for the values of the controls.

    Displayed, it is a live widget. Where no widget can live (GitHub, print, a notebook that was not run) the
    same output shows the first picture. A picture is drawn once for each set of values.
    """

    def __init__(self, name: str, draw: Callable[..., Picture], controls: Mapping[str, object]):
        import ipywidgets

        self.name, self.draw, self.controls = name, draw, dict(controls)
        self._drawn: dict[tuple, Shown | str] = {}
        self.view = ipywidgets.HTML(layout=ipywidgets.Layout(height=VIEW_HEIGHT, overflow="hidden"))
        self.view.add_class("warpbook-view")
        rows = ipywidgets.HBox(list(self.controls.values()), layout=ipywidgets.Layout(flex_flow="row wrap"))
        self.box = ipywidgets.VBox([rows, self.view])
        self.box.add_class(f"warpbook-{name}")
        for control in self.controls.values():
            control.observe(self._changed, names="value")
        self._changed()

    @property
    def values(self) -> dict[str, object]:
        """The present value of every control."""
        return {name: control.value for name, control in self.controls.items()}

    @property
    def shown(self) -> Shown | str:
        """The picture for the present values, or the message of the kernel that failed at them."""
        key = tuple(self.values.items())
        if key not in self._drawn:
            try:
                self._drawn[key] = show(self.draw(**self.values))
            except VirtualGPUError as error:
                self._drawn[key] = str(error)
        return self._drawn[key]

    def _changed(self, _change=None) -> None:
        shown = self.shown
        if isinstance(shown, str):
            self.view.value = f'<pre role="alert" style="white-space:pre-wrap">{html.escape(shown)}</pre>'
        else:
            self.view.value = f'<div aria-live="polite">{shown.html(inline=True)}</div>'

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"{self.name}({values}): {self.shown!r}"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, object]:
        live = self.box._repr_mimebundle_()
        static = self.shown.html() if isinstance(self.shown, Shown) else f"<pre>{html.escape(self.shown)}</pre>"
        return {WIDGET_VIEW: live[WIDGET_VIEW], "text/html": static, "text/plain": repr(self)}


def slider(name: str, value: int, low: int, high: int, step: int = 1):
    """An integer slider that says its name, for mouse and arrow keys."""
    import ipywidgets

    return ipywidgets.IntSlider(
        value=value,
        min=low,
        max=high,
        step=step,
        description=name,
        continuous_update=True,
        style={"description_width": "initial"},
        layout=ipywidgets.Layout(width="330px"),
    )


def choice(name: str, value, options):
    """A slider over a few values, such as the powers of two."""
    import ipywidgets

    return ipywidgets.SelectionSlider(
        value=value,
        options=list(options),
        description=name,
        style={"description_width": "initial"},
        layout=ipywidgets.Layout(width="330px"),
    )


def explore(draw: Callable[..., Picture], **ranges: tuple[int, int]) -> Explorer:
    """An explorer for a drawing function of your own: `explore(draw, stride=(1, 32), offset=(0, 31))`.

    Each range is (low, high) of an integer slider that starts at `low`.
    """
    controls = {name: slider(name, low, low, high) for name, (low, high) in ranges.items()}
    return Explorer(getattr(draw, "__name__", "explore"), draw, controls)
