"""The cards of a kernel and the rooflines: verdicts and numbers are those of the profile."""

import re

import numpy as np
import pytest

from helpers import Launch, cp, cuda, device, diagnose, gpus, ladder, plots, profile, widgets
from helpers.pictures.figures import card_height
from helpers.results.timing import Timing
from helpers.workbook.run import unnamed_pictures
from tests.pictures.widgets.choose import choose

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


MIXED = r"""
extern "C" __global__ void mixed(const float* x, float* out) {
    out[4 * threadIdx.x] = x[threadIdx.x];
    atomicAdd(out, 1.0f);
}
"""


def test_loads_stores_and_atomics_are_counted_apart(arrays):
    page = widgets.cards(cp.RawKernel(MIXED, "mixed"), 1, 32, arrays).view.value
    said = re.findall(r'<th scope="row"[^>]*>([^<]*)</th><td[^>]*>([^<]*)</td>', page)
    assert {
        ("global loads", "4 sectors a request, 100 % used"),
        ("global stores", "16 sectors a request, 25 % used"),
        ("lanes request", "256 bytes"),
        ("sectors bring", f"{32 * (4 + 16 + 1)} bytes"),  # all lanes add to one sector
    } <= set(said)


def test_sliders_choose_the_kernel_and_the_gpu(arrays):
    explorer = widgets.cards({
        "chunks": Launch(numba_chunks, N // 8 // 128, 128, arrays),
        "one block": profile(copy, 1, 128, arrays),
    })  # fmt: skip
    assert explorer.shown.alt.startswith("chunks: ")
    assert choose(explorer, kernel="one block").startswith("one block: launch too small (modelled")
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


ELEMENTS = 1 << 20
POLYNOMIAL = r"""
extern "C" __global__ void polynomial(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], r = v;
    #pragma unroll
    for (int k = 0; k < 64; ++k) r = r * v + 1;
    out[i] = r;
}
"""


@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@pytest.fixture(scope="module")
def profiles():
    x, y, out = (cp.ones(ELEMENTS, "float32") for _ in range(3))
    kernel = cp.RawKernel(POLYNOMIAL, "polynomial")
    return {
        "saxpy": profile(saxpy, ELEMENTS // 256, 256, (np.float32(2), x, y, out)),
        "polynomial": profile(kernel, ELEMENTS // 256, 256, (x, out, np.int32(ELEMENTS))),
    }


def test_both_languages_stand_under_the_roof(profiles):
    explorer = widgets.roofline(profiles, gpu="A100")
    assert explorer.shown.alt == (
        "A100, FP32, bytes at DRAM: ridge at 9.56 FLOP/byte. Memory-bound: saxpy; compute-bound: polynomial. "
        "What if: at 4 FLOP/byte the roof is 8.16 TFLOP/s, memory-bound."
    )


def test_another_gpu_may_change_the_state(profiles):
    explorer = widgets.roofline(profiles, gpu="A100")
    assert "Memory-bound: saxpy, polynomial." in choose(explorer, gpu="T4")
    assert "ridge at 25.4 FLOP/byte" in explorer.shown.alt


def test_a_faster_memory_and_more_lanes_model_the_kernels_anew(profiles):
    explorer = widgets.roofline(profiles, gpu="T4")
    explorer.controls["bandwidth"].value = 4
    assert "T4, 4 × bandwidth" in explorer.shown.alt and "compute-bound: polynomial" in explorer.shown.alt
    explorer.controls["arithmetic"].value = 2
    assert explorer.shown.alt.startswith("T4, 2 × lanes, 4 × bandwidth, FP32, bytes at DRAM: ridge at 12.7 FLOP/byte.")


def test_what_if_stands_on_the_roof(profiles):
    explorer = widgets.roofline(profiles, gpu="A100")
    assert choose(explorer, what_if=64.0).endswith("What if: at 64 FLOP/byte the roof is 19.5 TFLOP/s, compute-bound.")


def test_memories_and_units_without_a_figure_say_so(profiles):
    explorer = widgets.roofline(profiles, gpu="H100")
    explorer.controls["memory"].value = "L2"
    assert "No document gives the L2 bandwidth of H100" in explorer.shown.alt and "saxpy" in explorer.shown.alt
    assert "bytes at L2" in choose(explorer, gpu="A100")
    assert "No document gives the FP8 tensor peak of A100" in choose(explorer, precision="fp8_tensor")


def test_launches_and_ladders_are_taken_too():
    x, y, out = (cp.ones(4096, "float32") for _ in range(3))
    rungs = {"small": Launch(saxpy, 16, 256, (np.float32(2), x, y, out))}
    for given in (rungs, ladder(rungs)):
        assert "Latency-bound: small." in widgets.roofline(given, gpu="A100").shown.alt
    with pytest.raises(ValueError, match="at least one kernel"):
        widgets.roofline({})


def test_every_control_has_a_name_and_the_view_a_height(profiles):
    explorer = widgets.roofline(profiles)
    names = [control.description for control in explorer.controls.values()]
    assert names == ["GPU", "units", "bytes counted at", "what if: FLOP/byte", "bandwidth", "arithmetic"]
    assert explorer.view.layout.height == f"{card_height(caption_lines=4)}px"
    many = {f"another name of a kernel {n}": profiles["saxpy"] for n in range(12)}
    assert widgets.roofline(many).view.layout.height == f"{card_height(caption_lines=8)}px"


def test_a_measured_time_belongs_to_the_gpu_that_was_measured(profiles, monkeypatch):
    drawn, chart = [], plots.roofline_chart

    def seen(places, *args, **named):
        drawn.append(places)
        return chart(places, *args, **named)

    monkeypatch.setattr(plots, "roofline_chart", seen)
    monkeypatch.setattr("vgpu.hardware.device.real_gpu", lambda: True)
    monkeypatch.setattr("vgpu.hardware.device.current", lambda: gpus.find("A100"))
    explorer = widgets.roofline(profiles, gpu="A100", timings={"saxpy": Timing((1e-3,) * 3, 1, "events", "A100")})
    assert drawn[-1]["saxpy"].measured and drawn[-1]["saxpy"].seconds == 1e-3
    assert not drawn[-1]["polynomial"].measured
    explorer.controls["gpu"].value = "T4"
    assert not drawn[-1]["saxpy"].measured and drawn[-1]["saxpy"].seconds != 1e-3
