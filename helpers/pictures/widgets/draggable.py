"""A view whose marks can be dragged, by pointer or keys: each sets a control, and stands where the control does.

The browser's part is drag.mjs. It moves a mark at once, from one place of its track to another, and tells which; what
follows from that is drawn here, as if the control had been moved.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from helpers.pictures.figures import Track
from helpers.pictures.widgets.controls import Control, words_for

_HERE = Path(__file__).parent


class Draggable(anywidget.AnyWidget):
    """HTML in `value`, as of `ipywidgets.HTML`, and handles over the first picture in it.

    `controls` by name; `follow(tracks)` says where their handles stand. A track whose name is that of no control, or
    that has no place for what the control holds, has no handle.
    """

    _esm = _HERE / "drag.mjs"
    _css = _HERE / "drag.css"
    value = traitlets.Unicode().tag(sync=True)
    handles = traitlets.List(traitlets.Dict()).tag(sync=True)
    at = traitlets.Dict().tag(sync=True)
    """By handle, the number of the place at which it stands. The browser changes it, and so do the controls."""

    def __init__(self, controls: Mapping[str, Control], **traits: Any):
        self.controls = controls
        self._values: dict[str, list] = {}
        self._following = 0  # the thread that moves handles, which drags none
        super().__init__(**traits)
        self.observe(self._dragged, names="at")

    def follow(self, tracks: Mapping[str, Track], values: Mapping[str, object]) -> None:
        """Let the handles stand where these tracks have `values`, those of the controls that the view was drawn for."""
        held = {name: track for name, track in tracks.items() if name in values and values[name] in track.places}
        self._following = threading.get_ident()
        try:
            self._values = {name: list(track.places) for name, track in held.items()}
            self.handles = [handle(name, self.controls[name], track) for name, track in held.items()]
            self.at = {name: places.index(values[name]) for name, places in self._values.items()}
        finally:
            self._following = 0

    def _dragged(self, change: traitlets.Bunch) -> None:
        if self._following == threading.get_ident():
            return  # else a control that is being moved would go back to what the view was drawn for
        for name, number in change.new.items():
            values = self._values.get(name, ())
            if number in range(len(values)):
                self.controls[name].value = values[number]

    def __repr__(self) -> str:
        return f"Draggable({', '.join(self._values)})"


def handle(name: str, control: Control, track: Track) -> dict[str, object]:
    """What the browser has to know of a handle: its places in order, and the words for each."""
    return {
        "name": name,
        "label": control.description,
        "along": track.along,
        "places": [[round(float(part), 2) for part in place] for place in track.places.values()],
        "words": [words_for(control, value) for value in track.places],
        "line": track.line and [[round(float(part), 2) for part in end] for end in track.line],
    }
