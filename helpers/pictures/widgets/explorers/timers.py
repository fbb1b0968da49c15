"""What a clock on the host reads, with and without waiting for the GPU."""

from __future__ import annotations

from collections.abc import Callable

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, slider
from helpers.pictures.widgets.explorer import Explorer
from vgpu.tools.launch import Launch


def _microseconds(given: Launch | float) -> float:
    """Of one run of the kernel alone: the time that its launch takes the host is left out."""
    if not isinstance(given, Launch):
        return given
    model = given.profile().model
    return 1e6 * (model.seconds - model.terms["launch"])


def timer_bars(kernel: Callable[[int], Launch | float], *, elements: int = 1 << 22, launches: int = 1) -> Explorer:
    """Sliders for the size of the data and the number of launches, over the timeline of both.

    `kernel(elements)`: a `Launch` for data of that size, whose time is modelled from its counts; or the microseconds of
    one run, from elsewhere. A launch keeps the host as long as the sheet of the modelled GPU says. Modelled, not
    measured: the figure says so.
    """
    from vgpu.hardware.device import current

    checked.called("kernel", kernel)

    def draw(elements: int, launches: int) -> Picture:
        found = _microseconds(kernel(elements))
        if not found >= 0:
            raise ValueError(f"kernel({elements}) gives a Launch, or microseconds, 0 or more, not {found!r}")
        return plots.timer_bars(current().launch_overhead * 1e6, found, launches=launches)

    sizes = [(f"2^{power}", 1 << power) for power in range(10, 25, 2)]
    return Explorer(
        "timer_bars",
        draw,
        {"elements": choice("elements", elements, sizes), "launches": slider("launches", launches, 1, 12)},
    )
