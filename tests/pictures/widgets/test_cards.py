"""The cards of a kernel: the verdict, the numbers of the profile, any kernel of both languages."""

import numpy as np
import pytest

from helpers import Launch, cp, cuda, device, diagnose, ladder, profile, widgets
from helpers.workbook.run import unnamed_pictures

N = 2**17
CODE = r"""
extern "C" __global__ void chunks(const float* x, float* out) {
    int first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < first + 8; ++i) out[i] = x[i] < 3 ? x[i] : 0;
}
"""


@cuda.jit
def numba_chunks(x, out):
    for i in range(8 * cuda.grid(1), 8 * cuda.grid(1) + 8):
        out[i] = x[i]


@cuda.jit
def copy(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i]


KERNELS = {"cuda": lambda: cp.RawKernel(CODE, "chunks"), "numba": lambda: numba_chunks}


@pytest.fixture(autouse=True)
def a100():
    device("A100")
    yield
    device.reset()


@pytest.fixture
def arrays():
    return cp.ones(N, np.float32), cp.zeros(N, np.float32)


@pytest.mark.parametrize("language", KERNELS)
def test_a_kernel_alone_with_its_launch(language, arrays):
    kernel, blocks = KERNELS[language](), N // 8 // 128
    explorer = widgets.cards(kernel, blocks, 128, arrays)
    found = diagnose(profile(kernel, blocks, 128, arrays))
    assert list(explorer.controls) == ["gpu"]
    assert found.name in explorer.shown.alt and "modelled" in explorer.shown.alt
    page = explorer.view.value
    assert "32 sectors a request, 12 % used" in page and f"{found.profile.total['instructions']:,}" in page
    assert unnamed_pictures(page) == []


def test_sliders_choose_the_kernel_and_the_gpu(arrays):
    explorer = widgets.cards({
        "chunks": Launch(numba_chunks, N // 8 // 128, 128, arrays),
        "one block": profile(copy, 1, 128, arrays),
    })  # fmt: skip
    assert explorer.shown.alt.startswith("chunks: ")
    explorer.controls["kernel"].value = "one block"
    assert explorer.shown.alt.startswith("one block: launch too small (modelled")
    assert "on A100" in explorer.shown.alt
    explorer.controls["gpu"].value = "T4"
    assert explorer.shown.alt.startswith("one block: launch too small (modelled") and "on T4" in explorer.shown.alt


def test_a_ladder_brings_its_profiles(arrays):
    climb = ladder({"1 chunks": Launch(numba_chunks, N // 8 // 128, 128, arrays)})
    assert widgets.cards(climb).shown.alt.startswith("1 chunks: ")


def test_the_source_is_escaped_and_the_hot_line_comes_first(arrays):
    page = widgets.cards(KERNELS["cuda"](), N // 8 // 128, 128, arrays).view.value
    hot = page[page.index("Source hot spots") :]
    assert "x[i] &lt; 3" in hot and hot.index("x[i] &lt; 3") < hot.index("int first")


def test_the_chosen_gpu_is_among_those_shown(arrays):
    device("V100")
    explorer = widgets.cards(copy, 64, 128, arrays)
    assert explorer.values["gpu"] == "V100" and "on V100" in explorer.shown.alt


def test_a_kernel_without_its_launch_is_told_what_is_missing():
    with pytest.raises(TypeError, match=r"cards\(kernel, grid, block, args\)"):
        widgets.cards(copy)
