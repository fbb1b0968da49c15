"""Lanes by instruction: what a warp issues, what of it is useful, and how that follows the kernel's data."""

import numpy as np
import pytest

from helpers import cp, cuda, profile, record, widgets
from helpers.pictures.plots.issue import issue_strip, slots
from helpers.workbook.run import unnamed_pictures
from vgpu.base.errors import OutOfBounds

ARMS = r"""
extern "C" __global__ void arms(const float* x, float* out, int side) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (i / side % 2 == 0) {
        for (int k = 0; k < 20; ++k) v = v * 0.5f + 1.0f;
    } else {
        for (int k = 0; k < 20; ++k) v = v * v - 0.5f;
    }
    out[i] = v;
}
"""


@cuda.jit
def numba_arms(x, out, side):
    i = cuda.grid(1)
    v = x[i]
    if i // side % 2 == 0:
        for _ in range(20):
            v = v * np.float32(0.5) + np.float32(1)
    else:
        for _ in range(20):
            v = v * v - np.float32(0.5)
    out[i] = v


KERNELS = {"cuda": lambda: cp.RawKernel(ARMS, "arms"), "numba": lambda: numba_arms}
X, OUT = np.linspace(-2, 2, 128).astype(np.float32), np.zeros(128, np.float32)


@pytest.mark.parametrize("language", KERNELS)
def test_it_says_what_a_profile_of_the_same_warp_counts(language):
    kernel, x, out = KERNELS[language](), cp.asarray(X), cp.asarray(OUT)
    for side in (1, 32):
        counted = profile(kernel, 1, 32, (x, out, np.int32(side)))
        taken = slots(record(kernel, 1, 32, (x, out, np.int32(side))).of(0))
        assert (taken.instructions, taken.useful) == (counted["instructions"], counted["thread_instructions"])
        assert taken.issued == 32 * taken.instructions


@pytest.mark.parametrize("language", KERNELS)
def test_controls_of_warp_and_data_move_the_meter(language):
    x, out = cp.asarray(X), cp.asarray(OUT)
    explorer = widgets.lanes(KERNELS[language](), 1, 128, lambda side: (x, out, np.int32(side)), side=[1, 16, 32])
    assert list(explorer.controls) == ["side", "warp"]
    said = {}
    for side in (1, 16, 32):
        explorer.controls["side"].value = side
        said[side] = explorer.shown.alt
        assert f'aria-label="{explorer.shown.alt}"' in explorer.view.value
    assert said[1].startswith("side 1: Warp 0 of ") and "(100 %)" not in said[1]
    assert said[1].split(": ", 1)[1] == said[16].split(": ", 1)[1]
    assert "(100 %) are useful: 32 of 32 lanes per instruction." in said[32]
    explorer.controls["warp"].value = 3
    assert "Warp 3 of" in explorer.shown.alt


def test_a_plain_tuple_of_arguments_needs_no_control():
    explorer = widgets.lanes(numba_arms, 1, 32, (cp.asarray(X), cp.asarray(OUT), np.int32(1)))
    assert explorer.controls == {} and explorer.shown.alt.startswith("Warp 0 of numba_arms issues ")
    bundle = explorer._repr_mimebundle_()
    assert "<img" in bundle["text/html"] and unnamed_pictures(bundle["text/html"]) == []


def test_a_kernel_is_run_once_for_each_set_of_arguments():
    asked = []

    def arguments(side):
        asked.append(side)
        return cp.asarray(X), cp.asarray(OUT), np.int32(side)

    explorer = widgets.lanes(numba_arms, 1, 64, arguments, side=(1, 2))
    for warp in (1, 0, 1):
        explorer.controls["warp"].value = warp
    explorer.controls["side"].value = 2
    explorer.controls["side"].value = 1
    assert asked == [1, 2]


def test_an_error_of_the_kernel_is_shown_in_words():
    explorer = widgets.lanes(numba_arms, 1, 128, (cp.asarray(X), cp.zeros(8, dtype="float32"), np.int32(1)))
    assert isinstance(explorer.shown, str) and "thread" in explorer.shown
    with pytest.raises(OutOfBounds):
        record(numba_arms, 1, 128, (cp.asarray(X), cp.zeros(8, dtype="float32"), np.int32(1)))


def test_a_warp_without_steps_is_an_error_in_words():
    recording = record(numba_arms, 1, 32, (cp.asarray(X), cp.asarray(OUT), np.int32(1)))
    with pytest.raises(ValueError, match="no steps of warp 1; it has 1 warp"):
        issue_strip(recording, 1)


def test_a_long_warp_is_drawn_in_part_and_counted_whole():
    @cuda.jit
    def endless(x, n):
        v = x[0]
        for _ in range(n):
            v = v * np.float32(0.5)
            cuda.syncwarp()
        x[0] = v

    recording = record(endless, 1, 32, (cp.ones(1, dtype="float32"), 300))
    drawing = issue_strip(recording)
    assert "the first 700 drawn" in drawing.svg and f"issues {len(recording.steps):,} instructions" in drawing.finding
