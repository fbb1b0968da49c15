"""A program's host, copies and kernels on one line of time, zoomed and gone through operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, steps
from helpers.pictures.widgets.explorer import Explorer
from vgpu.tools import streams
from vgpu.tools.streams.spans import Schedule

ZOOMS = (1, 2, 4, 8, 16, 32)


def timeline(
    program: Callable[[], object] | Mapping[str, Callable[[], object]], *, zooms: Sequence[int] = ZOOMS
) -> Explorer:
    """Sliders for the operation and for how much of the time around it is shown; a choice among several programs.

    `program()` asks for copies and kernels, with CuPy or with Numba, makes its own buffers and waits at its end; or a
    mapping from short names to such programs. Each is recorded once: measured on a GPU, elsewhere modelled for the one
    that is chosen then. The longest operation is shown first. Raises ValueError, with the reason, where a GPU's work
    cannot be recorded or nothing was asked of it.
    """
    programs = checked.versions(program, "a program")
    for each in programs.values():
        checked.called("program", each)
    zooms = checked.options("zooms", zooms)
    if min(zooms) < 1:
        raise ValueError(f"a zoom is 1, for the whole time, or more; got {min(zooms)}")
    found: dict[str, Schedule] = {name: _recorded(each) for name, each in programs.items()}
    first = next(iter(found))
    controls = {}
    if len(found) > 1:
        controls["program"] = choice("program", first, found)
    controls["operation"] = step = steps("operation", 1, len(found[first].spans))
    step.value = _longest(found[first])
    controls["zoom"] = choice("zoom", zooms[0], zooms)

    def fit() -> None:
        """A program may have fewer operations than the one shown until now."""
        operations = len(found[controls["program"].value if "program" in controls else first].spans)
        step.value = min(step.value, operations)
        step.max = operations

    def draw(operation: int, zoom: int, program: str = first) -> Picture:
        schedule = found[program]
        return plots.timeline_window(schedule, min(operation, len(schedule.spans)), zoom, name=program)

    return Explorer("timeline", draw, controls, fit=fit)


def _longest(schedule: Schedule) -> int:
    """The number of the operation that takes most time, from 1."""
    lengths = [span.end - span.start for span in schedule.spans]
    return 1 + lengths.index(max(lengths))


def _recorded(program: Callable[[], object]) -> Schedule:
    try:
        found = streams.schedule(program)
    except streams.RecordingError as error:
        raise ValueError(str(error)) from error
    if not found.spans:
        raise ValueError("the program asks nothing of the GPU: no copy, no kernel")
    return found
