"""The explorer of one warp scheduler: its finding is the timeline's, and its picture stays small."""

import numpy as np
import pytest

from helpers import Launch, cp, cuda, widgets
from helpers.models.warp_scheduler import schedule
from helpers.pictures.figures import LARGEST_SVG
from helpers.workbook.run import unnamed_pictures


@cuda.jit
def twice(x, out):
    i = cuda.grid(1)
    out[i] = 2 * x[i]


SUMS = r"""
extern "C" __global__ void sums(const float* x, float* out) {
    float a = x[threadIdx.x], b = a + 1;
    #pragma unroll 1
    for (int k = 0; k < 100; ++k) { a = a * b + k; b = b * a - k; }
    out[threadIdx.x] = a + b;
}
"""


def launches():
    x, out = cp.zeros(64, np.float32), cp.zeros(64, np.float32)
    kernels = {"twice": twice, "sums": cp.RawKernel(SUMS, "sums")}
    return {name: Launch(kernel, 1, 64, (x, out)) for name, kernel in kernels.items()}


@pytest.mark.parametrize("name", ["twice", "sums"])
@pytest.mark.parametrize("warps", [1, 5, 16])
def test_it_says_what_the_timeline_says(name, warps):
    launch = launches()[name]
    explorer = widgets.scheduler(launch, warps=warps, gpu="H100")
    found = schedule(launch, warps, "H100")
    assert explorer.shown.alt == (
        f"with {warps} warp{'s' * (warps > 1)} a scheduler of H100 keeps memory busy {found.memory_busy:.0%} of the "
        f"time and issues in {found.issue_busy:.0%} of the clocks (modelled)."
    )
    assert len(explorer.shown.image) < LARGEST_SVG
    assert unnamed_pictures(explorer.view.value) == []


def test_controls_choose_version_warps_and_gpu():
    explorer = widgets.scheduler(launches())
    assert explorer.shown.alt.startswith("twice: with 1 warp a scheduler of A100")
    explorer.controls["version"].value = "sums"
    explorer.controls["warps"].value = 8
    explorer.controls["gpu"].value = explorer.controls["gpu"].options[0]
    assert explorer.shown.alt.startswith("sums: with 8 warps a scheduler of T4")


def test_more_warps_than_a_scheduler_holds_are_refused_in_words():
    with pytest.raises(ValueError, match="warps goes from 1 to 8; 9 lies outside"):
        widgets.scheduler(launches()["twice"], gpu="T4", warps=9)


def test_a_gpu_with_a_smaller_scheduler_takes_as_many_warps_as_it_holds():
    explorer = widgets.scheduler(launches()["twice"], warps=16)
    explorer.controls["gpu"].value = "T4"
    assert explorer.controls["warps"].max == 8 and "with 8 warps a scheduler of T4" in explorer.shown.alt
    explorer.controls["gpu"].value = "A100"
    explorer.controls["warps"].value = 16
    assert "with 16 warps a scheduler of A100" in explorer.shown.alt
