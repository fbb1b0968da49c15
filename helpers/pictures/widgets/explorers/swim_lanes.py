"""A program of streams as swim lanes: when host, copy engines and SMs work, as chunks, streams and memory change."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from helpers.hardware.device import current
from helpers.pictures import plots
from helpers.pictures.figures import Picture
from helpers.pictures.plots.time import swim_finding
from helpers.pictures.widgets import given as checked
from helpers.pictures.widgets.controls import choice, toggle
from helpers.pictures.widgets.explorer import Explorer
from helpers.results import streams as recordings
from helpers.results.streams.spans import Schedule
from helpers.vgpu.base.words import plural


def swim_lanes(
    program: Callable[..., object],
    *,
    chunks: Sequence[int] = (1, 2, 4, 8, 16, 32),
    streams: Sequence[int] = (1, 2, 3, 4, 8),
    start: tuple[int, int] | None = None,
) -> Explorer:
    """Sliders over chunks and streams, and a box for pinned memory; a dashed line marks one chunk in one stream.

    `program(chunks, streams, pinned)` asks for the work, with CuPy or with Numba, makes its own buffers and waits at
    its end. It is recorded at every move: measured on a GPU and modelled elsewhere. `start`: the first values of both
    sliders, else the third chunk and the second stream choice, as far as there are so many.
    """
    checked.called("program", program)
    chunks, streams = checked.options("chunks", chunks), checked.options("streams", streams)
    first_chunks, first_streams = start or (chunks[:3][-1], streams[:2][-1])
    known: dict[tuple, Schedule] = {}

    def schedule(*values) -> Schedule:
        key = *values, current().name
        if key not in known:
            try:
                known[key] = recordings.schedule(program, *values)
            except recordings.RecordingError as error:
                raise ValueError(str(error)) from error
        return known[key]

    def draw(chunks: int, streams: int, pinned: bool) -> Picture:
        found, alone = schedule(chunks, streams, pinned), schedule(1, 1, True)
        if not (found.spans and alone.spans):
            raise ValueError("the program asks nothing of the GPU: no copy, no kernel")
        name = f"{plural(chunks, 'chunk')} in {plural(streams, 'stream')}, "
        name += "pinned memory" if pinned else "pageable memory"
        picture = plots.schedule_lanes(found, until=alone.seconds, mark="one piece, pinned")
        return Picture(picture.figure, swim_finding(found, name, alone.seconds))

    return Explorer(
        "swim_lanes",
        draw,
        {
            "chunks": choice("chunks", first_chunks, chunks),
            "streams": choice("streams", first_streams, streams),
            "pinned": toggle("pinned memory", True),
        },
    )
