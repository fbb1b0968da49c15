"""The explorers of an SM's places and of waves: what they say is what `occupancy` computes from the compiler."""

import numpy as np
import pytest

from helpers import cp, cuda, occupancy, profile, widgets
from helpers.workbook.run import unnamed_pictures
from vgpu.hardware.gpus import GPUS

HEAVY = r"""
extern "C" __global__ void heavy(const float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[COUNT], sum = 0;
    for (int k = 0; k < COUNT; ++k) v[k] = x[k * 32 + i];
    for (int k = 0; k < COUNT; ++k) sum += v[k];
    for (int k = 0; k < COUNT; ++k) out[k * 32 + i] = v[k] - sum;
}
"""


@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * x[i]


def heavy(count: int):
    return cp.RawKernel(HEAVY, "heavy", (f"-DCOUNT={count}",))


def arrays():
    return cp.zeros(2048, np.float32), cp.zeros(2048, np.float32)


KERNELS = {"numba": lambda: scale, "cuda": lambda: heavy(40)}


@pytest.mark.parametrize("language", KERNELS)
def test_it_says_what_a_profile_says_on_every_gpu(language):
    kernel, args = KERNELS[language](), arrays()
    explorer = widgets.slots(kernel, args, block=32)
    counted = profile(kernel, 1, 32, args)
    for name in GPUS:
        explorer.controls["gpu"].value = name
        held = counted.on(name).occupancy
        assert explorer.shown.alt.startswith(f"{counted.on(name).registers} registers a thread (compiler")
        assert f"{held.warps_per_sm} of {held.max_warps_per_sm} warps" in explorer.shown.alt
        assert explorer.shown.alt.endswith(f"limited by {held.limiter}.")
    assert unnamed_pictures(explorer.view.value) == []


def test_a_stand_in_for_an_older_architecture_is_named():
    explorer = widgets.slots(scale, arrays(), gpu="V100")
    assert "(compiler, assembled for sm_75)" in explorer.shown.alt


def test_registers_and_shared_memory_can_be_chosen():
    explorer = widgets.slots(scale, arrays())
    explorer.controls["registers"].value = 33
    held = occupancy(33, 0, 256, GPUS["A100"])
    assert explorer.shown.alt == (
        f"33 registers a thread (by hand): an SM of A100 holds {held.blocks_per_sm} blocks of 256 threads: "
        "48 of 64 warps, occupancy 75%, limited by registers."
    )
    explorer.controls["shared"].value = 48 * 1024
    assert explorer.shown.alt.endswith("24 of 64 warps, occupancy 38%, limited by shared memory.")


def test_it_works_without_a_kernel_and_with_several():
    assert widgets.slots(registers=64, block=1024).shown.alt.endswith("limited by registers.")
    explorer = widgets.slots({"few": heavy(4), "many": heavy(60)}, arrays())
    few = explorer.shown.alt
    explorer.controls["version"].value = "many"
    assert few.startswith("few, ") and explorer.shown.alt.startswith("many, ")


def test_a_block_that_fits_nowhere_is_told_so():
    explorer = widgets.slots(registers=96, block=1024)
    assert explorer.shown.alt.endswith(
        "not even one block of 1,024 threads fits on an SM of A100: registers; a launch fails."
    )


@pytest.mark.parametrize(("blocks", "said"), [
    (1, "1 block on A100, 864 blocks at once, run in 1 wave; the last has 1 of 864 places taken, and under 1%"),
    (864, "864 blocks on A100, 864 blocks at once, run in 1 wave; the last has 864 of 864 places taken, and 100%"),
    (865, "865 blocks on A100, 864 blocks at once, run in 2 waves; the last has 1 of 864 places taken, and 50%"),
])  # fmt: skip
def test_waves_are_counted(blocks, said):
    explorer = widgets.waves(scale, arrays(), start=blocks)
    assert explorer.shown.alt == f"{said} of all places are used (modelled: equal blocks)."


def test_a_grid_of_no_fitting_block_has_no_waves():
    many = heavy(60)
    assert "a launch fails" in widgets.waves(many, arrays(), block=1024).shown
