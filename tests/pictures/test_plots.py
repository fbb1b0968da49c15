"""Plots: what a picture says is what the data say, for data worked out by hand."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from helpers import plots
from helpers.pictures import figures
from helpers.pictures.plots.accesses import sector_finding
from vgpu.base.words import plural


def access(stride=1, offset=0, nbytes=4, lanes=32, op="load"):
    return SimpleNamespace(
        op=op,
        nbytes=nbytes,
        lanes=tuple(lane < lanes for lane in range(32)),
        addresses=tuple((lane * stride + offset) * 4 for lane in range(32)),
    )


@pytest.mark.parametrize(
    ("request_", "sectors", "share"),
    [
        (access(), 4, "100 %"),
        (access(offset=1), 5, "80 %"),
        (access(stride=2), 8, "50 %"),
        (access(stride=8), 32, "12.5 %"),
        (access(stride=32), 32, "12.5 %"),
        (access(stride=0), 1, "12.5 %"),
        (access(stride=4, nbytes=16), 16, "100 %"),
        (access(lanes=8), 1, "100 %"),
    ],
)
def test_the_sector_map_states_sectors_and_share(request_, sectors, share):
    picture = plots.sector_map(request_, prefix="case: ")
    assert picture.finding == f"case: {plural(sectors, 'sector')} for 1 load request, {share} of the bytes used."
    heads = {text.get_text(): text.get_position()[0] for text in picture.figure.axes[0].texts}
    assert [heads[f"sector {sector}"] for sector in range(4)] == [0, 8, 16, 24]
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def test_an_idle_warp_is_drawn_too():
    assert plots.sector_map(access(lanes=0)).finding.startswith("0 sectors")


def test_panels_are_as_tall_as_the_lines_that_a_request_touches():
    shapes = {"near": access(), "far": access(stride=8)}  # one line of 128 bytes, and eight
    picture = plots.sector_panels(shapes)
    near, far = (axes.get_position().height for axes in picture.figure.axes)
    assert far / near == pytest.approx(8)
    assert picture.finding == " ".join(sector_finding(each, f"{name}: ") for name, each in shapes.items())


def grid(blocks, block):
    """Block and thread number at each position, worked out without a kernel."""
    y, x = np.mgrid[: blocks[1] * block[1], : blocks[0] * block[0]]
    return y // block[1] * blocks[0] + x // block[0], y % block[1] * block[0] + x % block[0]


@pytest.mark.parametrize(
    ("blocks", "block", "data", "says"),
    [
        ((3, 2), (8, 8), (11, 20), "6 blocks of 64 threads (12 warps) over 11 × 20 elements, with 164 threads that"),
        ((1, 1), (4, 4), (4, 4), "1 block of 16 threads (1 warp) over 4 × 4 elements, with 0 threads that the"),
        ((1, 1), (4, 4), (4, 5), "over 4 × 5 elements, with 4 elements that no thread reaches"),
        ((2, 1), (33, 1), (1, 40), "2 blocks of 33 threads (4 warps)"),
        ((4, 1), (8, 1), (27,), "over 27 elements, with 5 threads that the guard must stop"),
    ],
)
def test_the_thread_grid_counts_threads_and_gaps(blocks, block, data, says):
    of_block, of_thread = grid(blocks, block)
    picture = plots.thread_grid(of_block, of_thread, data, threads_per_block=block[0] * block[1])
    assert says in picture.finding
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


@pytest.mark.parametrize(
    ("kernel_us", "launches", "without", "with_"),
    [(50, 1, "4.0", "54.0"), (1, 3, "12.0", "13.0"), (10, 3, "12.0", "34.0")],
)
def test_timer_bars_queue_kernels_one_after_the_other(kernel_us, launches, without, with_):
    finding = plots.timer_bars(4, kernel_us, launches=launches).finding
    assert f"does not synchronise reads {without} µs" in finding
    assert f"does reads {with_} µs" in finding
    assert "modelled" in finding


def test_run_bars_compare_the_first_run_with_the_median_of_the_rest():
    assert "Run 1 takes 20 times as long" in plots.run_bars([0.02, 0.001, 0.001, 0.5]).finding


def test_a_line_of_threads_works_out_one_index():
    blocks, threads = np.repeat(np.arange(4), 8), np.tile(np.arange(8), 4)
    finding = plots.thread_line(blocks, threads, 27, picked=19).finding
    assert finding == (
        "4 blocks of 8 threads over 27 elements: each of 27 threads has one, and 5 other threads have none. "
        "Thread 3 of block 2 has element 2 × 8 + 3 = 19."
    )
    assert plots.thread_line([0, 0], [0, 1], 2).finding.endswith("and none is left over.")
    for wrong, words in ((([0, 0], [1, 0]), "stand in a row"), (([0] * 41, range(41)), "41 threads have no room")):
        with pytest.raises(ValueError, match=words):
            plots.thread_line(*wrong, 2)


def test_estimates_say_how_many_are_wrong_and_by_how_much():
    picture = plots.estimates({"mean": [1.0, 1.05, 3.0, 0.5], "median": [1.0]}, true=1)
    assert picture.finding == (
        "More than 10% off the true 1 ms — mean: 50.0% of them, the worst 3.00 ms; "
        "median: 0.0% of them, the worst 1.00 ms."
    )
    with pytest.raises(ValueError, match="one way or more"):
        plots.estimates({"none": []}, true=1)


def test_lines_and_stairs_name_every_series():
    line = plots.sectors_against([1, 2, 4], {"load": [4, 8, 16], "store": [4, 4, 4]})
    assert "load from 4 to 16; store always 4" in line.finding
    stairs = plots.staircase({"before": 12, "after": 4.5}, unit="sectors per request", best=4)
    assert stairs.finding == "Sectors per request — before: 12; after: 4.5."


def test_a_look_back_is_drawn_for_each_run():
    assert plots.look_back({"a": [0, 1, 2], "b": [0, 1, 1]}).finding == (
        "a: 3 blocks looked at 3 others, at 2 at most; b: 3 blocks looked at 2 others, at 1 at most."
    )
    for wrong, words in (
        ({}, "one run or more"),
        ({"a": [0, 0]}, "one block to its left"),
        ({"a": [1]}, "never beyond"),
    ):
        with pytest.raises(ValueError, match=words):
            plots.look_back(wrong)


def test_published_times_say_where_the_model_is_off():
    row = lambda kernel, published, modelled: SimpleNamespace(
        kernel=kernel, published=published, modelled=modelled, bound="DRAM"
    )
    finding = plots.published_times([row("first", 2.0, 1.0), row("last", 1.0, 1.4)], on="a GPU").finding
    assert finding.startswith("Published ms on a GPU, modelled in brackets — first 2 (1); last 1 (1.4).")
    assert finding.endswith("off by more than 1.5 times at first.")
    with pytest.raises(ValueError, match="nothing to compare"):
        plots.published_times([])


@pytest.mark.parametrize("draw", [lambda: plots.sector_map(access(stride=3)), lambda: plots.timer_bars(4, 50)])
def test_pictures_are_byte_stable(draw):
    assert figures.svg(draw().figure) == figures.svg(draw().figure)


def test_plurals():
    said = [plural(n, word) for n, word in ((1, "launch"), (2, "launch"), (1000, "sector"))]
    assert said == ["1 launch", "2 launches", "1,000 sectors"]


# ---------------------------------------------------------------- schedules and recordings


def span(engine, stream, start, end, label=""):
    from vgpu.tools.streams.spans import Span

    return Span(engine, stream, start, end, label)


def schedule(*spans, host=(), seconds=4e-5):
    from vgpu.tools.streams.spans import Schedule

    return Schedule("A100", spans, seconds, host=host)


def test_swim_lanes_state_times_and_overlap():
    one = schedule(span("H2D", "stream 1", 0, 1e-5), span("SMs", "stream 1", 1e-5, 4e-5, "add (4 blocks)"))
    picture = plots.schedule_lanes(one)
    assert picture.finding == (
        "2 operations in 1 stream take 40 µs (µs busy: to the GPU 10, SMs 30); nothing overlaps (modelled on A100)."
    )
    two = schedule(span("H2D", "stream 1", 0, 2e-5), span("SMs", "stream 2", 0, 4e-5))
    assert "20 µs of that overlap other work (" in plots.schedule_lanes(two).finding
    kernels = (span("SMs", "stream 1", 0, 2e-5), span("SMs", "stream 2", 1e-5, 4e-5))
    assert "SMs 40); kernels run side by side (" in plots.schedule_lanes(schedule(*kernels)).finding
    both = plots.schedule_lanes(schedule(*kernels, span("H2D", "stream 1", 0, 2e-5)))
    assert "20 µs of that overlap other work, and kernels run side by side (" in both.finding
    marked = plots.schedule_lanes(one, until=1e-4, mark="before").figure.axes[0]
    assert marked.get_xlim()[1] >= 100 and "before" in [text.get_text() for text in marked.texts]
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def test_labels_stand_only_where_they_fit_and_never_on_one_another():
    name = "multiply (4096 blocks)"
    spans = [span("SMs", f"stream {n}", n * 9e-6, n * 9e-6 + 2e-5, name) for n in range(3)]
    figure = plots.schedule_lanes(schedule(*spans, span("H2D", "stream 1", 0, 1e-7, "H2D 4 bytes"))).figure
    (axes,) = figure.axes
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert boxes and not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert "H2D 4 bytes" not in [text.get_text() for text in axes.texts]


def test_schedules_are_compared_on_one_axis_with_the_lanes_of_all():
    one = schedule(span("H2D", "stream 1", 0, 1e-5), span("SMs", "stream 1", 1e-5, 4e-5, "add (4 blocks)"))
    two = schedule(span("SMs", "stream 2", 0, 1e-5), seconds=1e-5, host=(span("host", "stream 2", 0, 5e-6, "add"),))
    picture = plots.lanes_compared({"copied": one, "only work": two})
    assert picture.finding == (
        "Copied: 40 µs, SMs busy 75%, 0 calls of the host; only work: 10 µs, SMs busy 100%, 1 call of the host "
        "(modelled on A100)."
    )
    above, below = picture.figure.axes
    assert above.get_xlim() == below.get_xlim()
    lanes = [[label.get_text() for label in axes.get_yticklabels()] for axes in (above, below)]
    assert lanes == [["host", "to the GPU", "SMs"]] * 2
    with pytest.raises(ValueError, match="1 to 3 schedules, not 4"):
        plots.lanes_compared(dict.fromkeys("abcd", one))
    with pytest.raises(ValueError, match="do not compare"):
        plots.lanes_compared({"a": one, "b": replace(one, kind="measured")})


def test_an_empty_schedule_is_drawn_too():
    assert "0 operations in 0 streams" in plots.schedule_lanes(schedule(seconds=0.0)).finding


DIVERGENT = """
extern "C" __global__ void part(int* x) {
    int i = threadIdx.x;
    if (i % 4 == 0) {
        x[i] = i / (x[i] + 1);
    }
}"""


@pytest.fixture(scope="module")
def recording():
    from vgpu.standins import cupy as cp
    from vgpu.tools.steps.stepper import record

    return record(cp.RawKernel(DIVERGENT, "part"), 1, 40, (cp.ones(64, "int32"),))


def test_mask_strips_draw_each_lane_that_takes_part_once_on_one_scale(recording):
    from matplotlib.collections import PatchCollection

    picture = plots.mask_strips({"one": recording, "other": recording})
    steps = recording.of(0)
    used = 100 * sum(sum(step.mask) for step in steps) / (32 * len(steps))
    words = f"{len(steps)} instructions, {used:.0f} % of the lane slots used"
    assert picture.finding == f"Warp 0 of each: one takes {words}; other takes {words}."
    for axes in picture.figure.axes:
        drawn = np.zeros((32, len(steps)), int)
        for boxes in (each for each in axes.collections if isinstance(each, PatchCollection)):
            for path in boxes.get_paths():
                (left, top), (right, bottom) = path.vertices.min(axis=0), path.vertices.max(axis=0)
                drawn[round(top) : round(bottom), round(left) : round(right)] += 1
        assert np.array_equal(drawn, np.array([step.mask for step in steps]).T)
        assert axes.get_xlim() == (0, len(steps))
    with pytest.raises(ValueError, match="1 to 4 recordings, not 0"):
        plots.mask_strips({})
    with pytest.raises(ValueError, match="'one' has no steps of warp 2"):
        plots.mask_strips({"one": recording}, warp=2)


def test_the_calls_of_an_operator_end_at_the_part_that_they_run_last():
    drawn = plots.operator_calls()
    assert drawn.svg.count(">launches<") == 2 and drawn.svg.count(">shapes only<") == 1
    assert [int(end) for end in re.findall(r'd="M83 42V(\d+)"', drawn.svg)] == [270, 218, 270]
