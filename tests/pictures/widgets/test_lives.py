"""The explorer of variables: versions and names by slider, what is said is what the PTX says, in two languages."""

import numpy as np
import pytest

from helpers import cp, cuda, widgets

OWN = r"""
extern "C" __global__ void own(const int* which, const float* table, float* out) {
    float mine[128];
    for (int k = 0; k < 128; ++k) mine[k] = table[k % 32];
    out[threadIdx.x] = mine[which[threadIdx.x]];
}
"""
SHARED = r"""
extern "C" __global__ void tiled(const int* which, const float* table, float* out) {
    __shared__ float tile[32];
    tile[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[which[threadIdx.x]];
}
"""


@cuda.jit
def python_own(which, table, out):
    mine = cuda.local.array(128, np.float32)
    i = cuda.threadIdx.x
    for k in range(128):
        mine[k] = table[k % 32]
    out[i] = mine[which[i]]


@pytest.fixture
def args():
    return cp.arange(32, dtype="int32"), cp.arange(32, dtype="float32"), cp.zeros(32, "float32")


@pytest.mark.parametrize("kernel", [lambda: cp.RawKernel(OWN, "own"), lambda: python_own], ids=["cuda", "numba"])
def test_it_says_where_a_variable_lives(kernel, args):
    explorer = widgets.lives(kernel(), args, variable="mine")
    assert "lives in local memory, 512 bytes, in DRAM, cached by L1 and L2." in explorer.shown.alt
    assert "ld.local" in explorer.shown.image or "st.local" in explorer.shown.image
    explorer.controls["variable"].value = "table"
    assert "`table`" in explorer.shown.alt and "lives in global memory, 128 bytes" in explorer.shown.alt


def test_a_version_brings_its_own_names_and_keeps_the_chosen_one(args):
    explorer = widgets.lives({"own": cp.RawKernel(OWN, "own"), "tile": (cp.RawKernel(SHARED, "tiled"), args)}, args)
    names, height = explorer.controls["variable"], explorer.view.layout.height
    names.value = "out"
    explorer.controls["version"].value = "tile"
    assert names.value == "out" and explorer.shown.alt.startswith("`out` of tiled lives in global memory")
    names.value = "tile"
    assert explorer.shown.alt.startswith("`tile` of tiled lives in shared memory, 128 bytes, in the SM")
    explorer.controls["version"].value = "own"
    assert names.value in names.options and "tile" not in names.options and "`" + names.value in explorer.shown.alt
    assert explorer.view.layout.height == height


def test_a_name_that_the_kernel_does_not_have(args):
    with pytest.raises(KeyError, match="own declares no 'tile'; it has which, table, out, mine, k"):
        widgets.lives(cp.RawKernel(OWN, "own"), args, variable="tile")
