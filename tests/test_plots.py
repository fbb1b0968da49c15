"""Plots: what a picture says is what the data say, for data worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from helpers import figures, plots


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
    assert picture.finding == f"case: {plots.plural(sectors, 'sector')} for 1 load request, {share} of the bytes used."
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def test_an_idle_warp_is_drawn_too():
    assert plots.sector_map(access(lanes=0)).finding.startswith("0 sectors")


def grid(blocks, block):
    """Block and thread number at each position, worked out without a kernel."""
    y, x = np.mgrid[: blocks[1] * block[1], : blocks[0] * block[0]]
    return y // block[1] * blocks[0] + x // block[0], y % block[1] * block[0] + x % block[0]


@pytest.mark.parametrize(
    ("blocks", "block", "data", "says"),
    [
        (
            (3, 2),
            (8, 8),
            (11, 20),
            "6 blocks of 64 threads (12 warps) over 11 × 20 elements, with 164 threads that",
        ),
        (
            (1, 1),
            (4, 4),
            (4, 4),
            "1 block of 16 threads (1 warp) over 4 × 4 elements, with 0 threads that the",
        ),
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


def test_lines_and_stairs_name_every_series():
    line = plots.sectors_against([1, 2, 4], {"load": [4, 8, 16], "store": [4, 4, 4]})
    assert "load from 4 to 16; store from 4 to 4" in line.finding
    stairs = plots.staircase({"before": 12, "after": 4.5}, unit="sectors per request", best=4)
    assert stairs.finding == "Sectors per request — before: 12; after: 4.5."


@pytest.mark.parametrize("draw", [lambda: plots.sector_map(access(stride=3)), lambda: plots.timer_bars(4, 50)])
def test_pictures_are_byte_stable(draw):
    assert figures.svg(draw().figure) == figures.svg(draw().figure)


def test_plurals():
    assert [plots.plural(n, word) for n, word in ((1, "launch"), (2, "launch"), (1000, "sector"))] == [
        "1 launch",
        "2 launches",
        "1,000 sectors",
    ]
