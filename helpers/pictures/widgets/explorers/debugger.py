"""A debugger of warps: step forwards and backwards through one block, and see what all 32 lanes do and hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from helpers.pictures.figures import CAPTION_LINE, Drawing, Shown, ShownMarkup, ShownRow
from helpers.pictures.plots.debugger import HEIGHT, warp_frame
from helpers.pictures.widgets.controls import dropdown, slider
from helpers.pictures.widgets.explorer import Explorer
from vgpu.base.errors import VirtualGPUError
from vgpu.tools.steps.stepper import record
from vgpu.tools.steps.timeline import GRAINS, MemoryThen, Moments

if TYPE_CHECKING:
    from vgpu.tools.prepare import Dimensions, Grid
    from vgpu.tools.steps.recording import Recording

MOST_STEPS = 4_000
"""Instructions of a recording: some seconds to make. A longer block is cut there, and the last step says so."""
CAPTION_LINES = 2
LAST_TOUCHED = "last touched"
ALL_WARPS = "all"
VALUES = ("variables", "registers")
Way = int | Callable[[Moments, int], int | None]

# Words on the button, what it does, and how `Moments` finds the way (None: one step to either side).
MOVES: tuple[tuple[str, str, Way], ...] = (
    ("◀ back", "one step back", -1),
    ("forward ▶", "one step forward", 1),
    ("next line", "the next step of this warp on another line", Moments.next_line),
    ("next change of mask", "the next step of this warp with other lanes active", Moments.next_mask),
    ("next barrier", "the next step at a barrier", Moments.next_barrier),
)


class Debugger(Explorer):
    """Controls over the moments of one recorded block; `step` counts from 1.

    Made from a recording. Every control is reached by Tab: arrow keys move sliders and menus, Space or Enter presses
    a button. Where a button leads nowhere, the view says so.
    """

    def __init__(
        self, recording: Recording, *, warp: int | None = None, by: str = "line", step: int = 1, lane: int = 0
    ):
        import ipywidgets

        self.recording = recording
        self.memory = MemoryThen(recording)
        self._timelines: dict[tuple[str, str], Moments] = {}
        self.note = ""
        # No option is None: a dropdown shows that as nothing chosen.
        warps = [*([ALL_WARPS] if recording.warps > 1 else []), *map(str, range(recording.warps))]
        first = warps[0] if warp is None else str(warp)
        controls = {
            "step": slider("step", 1, 1, 1),
            "lane": slider("lane", lane, 0, 31),
            "by": dropdown("step by", by, GRAINS),
            "warp": dropdown("warp", first, warps),
            "array": dropdown("memory", LAST_TOUCHED, [LAST_TOUCHED, *(held.name for held in recording.held)]),
            "values": dropdown("values", VALUES[0], VALUES),
        }
        self._ranged = first, by  # whose moments the slider goes through
        self._range(controls, self._timeline(first, by), step - 1)
        height = round(HEIGHT + 30 + CAPTION_LINES * CAPTION_LINE)
        super().__init__("debugger", self._draw, controls, height=height, fit=self._stay)
        self.buttons = [ipywidgets.Button(description=words, tooltip=hint, layout={"width": "auto"})
                        for words, hint, _ in MOVES]  # fmt: skip
        for button, (words, _, way) in zip(self.buttons, MOVES, strict=True):
            button.on_click(lambda _button, words=words, way=way: self._go(words, way))
        step_, lane_, by_, *menus = controls.values()
        step_.layout.width, lane_.layout.width = "340px", "230px"
        rows = ([step_, *self.buttons[:2], by_, lane_], [*self.buttons[2:], *menus])
        wrapped = {"flex_flow": "row wrap"}
        self.box.children = (*(ipywidgets.HBox(row, layout=wrapped) for row in rows), self.view)

    @property
    def timeline(self) -> Moments:
        """The moments that the slider goes through."""
        return self._timeline(self.controls["warp"].value, self.controls["by"].value)

    def _state(self, values: Mapping[str, object]) -> tuple:
        state, *rest = super()._state(values)
        return state, self.note, *rest

    def _view(self, state: tuple) -> Shown | ShownMarkup | ShownRow | str:
        with self._drawing:
            self._drawn.clear()  # a frame takes a millisecond; thousands of them would take a lot of memory
            return super()._view(state)

    def _timeline(self, warp: str, by: str) -> Moments:
        if (warp, by) not in self._timelines:
            chosen = None if warp == ALL_WARPS else int(warp)
            self._timelines[warp, by] = Moments(self.recording, warp=chosen, by=by)
        return self._timelines[warp, by]

    def _draw(self, step: int, lane: int, by: str, warp: str, array: str, values: str) -> Drawing:
        return warp_frame(
            self._timeline(warp, by), self.memory, step - 1, lane=lane, array=None if array == LAST_TOUCHED else array,
            registers=values == VALUES[1], note=self.note,
        )  # fmt: skip

    def _go(self, words: str, way: Way) -> None:
        here = self.controls["step"].value - 1
        there = here + way if isinstance(way, int) else way(self.timeline, here)
        if there is None or not 0 <= there < len(self.timeline):
            self.note = f"There is no step to go to: {words.strip('◀▶ ')}."
            self._latest.request()
            return
        self.controls["step"].value = there + 1

    def _changed(self, change: object = None) -> None:
        self.note = ""
        super()._changed(change)

    def _stay(self) -> None:
        """Stay at the same place where the moments have become others."""
        wanted = self.controls["warp"].value, self.controls["by"].value
        if wanted != self._ranged:
            moments = self._timeline(*self._ranged).moments
            place = moments[min(self.controls["step"].value, len(moments)) - 1].steps[0].number
            self._ranged, there = wanted, self._timeline(*wanted)
            self._range(self.controls, there, there.at(place))

    @staticmethod
    def _range(controls: Mapping[str, Any], timeline: Moments, number: int) -> None:
        control = controls["step"]
        control.max = len(timeline)
        control.value = min(max(number, 0), len(timeline) - 1) + 1


def debugger(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence, *, block_index: Dimensions = 0,
    warp: int | None = None, by: str = "line", step: int = 1, lane: int = 0, shared_bytes: int = 0,
    max_steps: int = MOST_STEPS, **meta: Any,
) -> Explorer:  # fmt: skip
    """Step through one block of a launch: source, lanes, variables and memory, forwards and backwards.

    kernel, grid, block, args and meta as for `record`, in any language; nothing the kernel writes stays. warp: the one
    to follow, None for all in the order in which they run; by: "line" or "instruction" of PTX; step, lane: where to
    start.
    A kernel that fails is shown up to the step that failed. Beyond `max_steps` instructions the recording is cut.
    """
    try:
        recording = record(
            kernel, grid, block, args, block_index, shared_bytes=shared_bytes, max_steps=max_steps, partial=True, **meta
        )
        if not recording.steps:
            raise recording.stopped or VirtualGPUError(f"block {block_index} of {recording.kernel} runs no instruction")
    except VirtualGPUError as error:
        return _told(error)
    return Debugger(recording, warp=warp, by=by, step=step, lane=lane)


def _told(error: VirtualGPUError) -> Explorer:
    """What is shown of a kernel without a first step: its error."""

    def draw() -> Drawing:
        raise error

    return Explorer("debugger", draw, {})
