"""The time line of a program: operations one by one, windows of time, programs with CuPy and with Numba."""

import numpy as np
import pytest

from helpers import cp, cuda, device, streams, widgets
from helpers.pictures.figures import PALETTE
from helpers.pictures.plots.time import around, window
from helpers.results.streams.spans import Schedule, Span
from helpers.workbook.run import unnamed_pictures

HALVE = cp.RawKernel('extern "C" __global__ void halve(float* x) { x[blockIdx.x * 256 + threadIdx.x] /= 2; }', "halve")


@cuda.jit
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= factor


def with_cupy():
    x = cp.asarray(np.ones(2**16, np.float32))
    for _ in range(3):
        HALVE((256,), (256,), (x,))
    assert x.get()[0] == 1 / 8


def with_numba():
    host = cuda.pinned_array(2**16, np.float32)
    host[:] = 1
    stream = cuda.stream()
    x = cuda.to_device(host, stream=stream)
    scale[256, 256, stream](x, np.float32(0.5))
    x.copy_to_host(host, stream=stream)
    stream.synchronize()


@pytest.fixture(autouse=True)
def a100():
    device("A100")
    yield
    device.reset()


@pytest.mark.parametrize(("program", "count", "kernel"), [(with_cupy, 5, "halve"), (with_numba, 3, "scale")])
def test_every_operation_is_gone_through(program, count, kernel):
    explorer = widgets.timeline(program)
    assert f"Operation {explorer.values['operation']} of {count}, on the way" in explorer.shown.alt  # the longest
    said = []
    for number in range(1, count + 1):
        explorer.controls["operation"].value = number
        said.append(explorer.shown.alt)
        assert said[-1].startswith(f"Operation {number} of {count}, on ")
    assert explorer.controls["operation"].max == count
    assert "the way to the GPU: H2D" in said[0] and "GB/s" in said[0] and "the way back: D2H" in said[-1]
    assert f"the SMs: {kernel} (256 blocks)" in said[1] and "(modelled on A100)" in said[1]
    assert unnamed_pictures(explorer.view.value) == []


def test_the_share_is_that_of_the_kernels_in_the_window():
    schedule = streams.schedule(with_numba)
    explorer = widgets.timeline(with_numba)
    share = schedule.busy("SMs") / schedule.seconds
    assert f"Some kernel runs in {share:.0%} of the whole program" in explorer.shown.alt
    explorer.controls["operation"].value, explorer.controls["zoom"].value = 2, 32
    assert "of these" in explorer.shown.alt and f"in {share:.0%} of" not in explorer.shown.alt


def test_another_program_may_have_fewer_operations():
    explorer = widgets.timeline({"CuPy": with_cupy, "Numba": with_numba})
    explorer.controls["operation"].value = 5
    explorer.controls["program"].value = "Numba"
    assert explorer.shown.alt.startswith("Numba: operation 3 of 3")
    assert explorer.controls["operation"].max == 3


def made(*spans) -> Schedule:
    return Schedule("A100", tuple(Span(engine, stream, start, end, engine) for engine, stream, start, end in spans),
                    max(span[3] for span in spans))  # fmt: skip


def test_a_window_is_cut_and_keeps_lanes_and_colours():
    schedule = made(("H2D", "a", 0, 4), ("SMs", "b", 4, 6), ("D2H", "a", 6, 10))
    seen = window(schedule, 3, 5)
    assert seen.seconds == 2
    assert [(span.start, span.end) for span in seen.spans] == [(0, 1), (1, 2), (4, 4)]
    assert seen.busy("SMs") == 1 and seen.busy("D2H") == 0
    assert [span.stream for span in seen.spans] == ["a", "b", "a"]


@pytest.mark.parametrize(("start", "end", "zoom", "shown"), [
    (0, 1, 1, (0, 10)), (0, 1, 2, (0, 5)), (4, 6, 2, (2.5, 7.5)), (9, 10, 4, (7.5, 10)),
])  # fmt: skip
def test_the_marked_operation_is_in_the_middle_as_far_as_the_ends_allow(start, end, zoom, shown):
    assert around(Span("SMs", "a", start, end, "k"), 10, zoom) == pytest.approx(shown)


def test_the_picture_marks_the_operation():
    explorer = widgets.timeline(with_numba)
    assert PALETTE["yellow"] in explorer.view.value


def test_a_program_that_asks_for_nothing_is_told_so():
    with pytest.raises(ValueError, match="asks nothing of the GPU"):
        widgets.timeline(lambda: None)
    with pytest.raises(ValueError, match="this mapping is empty: give a program"):
        widgets.timeline({})
