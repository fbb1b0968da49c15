"""The explorers of steps: what they say is what the kernels did, in both languages."""

import numpy as np
import pytest

from helpers import cp, cuda, plots, widgets
from helpers.workbook.run import unnamed_pictures
from tests.pictures.widgets.choose import choose
from tests.results.test_interleaving import KERNELS, zero
from vgpu.tools.steps.interleaving import interleavings


def test_what_other_threads_write_is_told_in_sum():
    picture = widgets.schedules(KERNELS["cuda"](), 1, 64, (zero(),)).draw("in order", "in order", 6)
    texts = [text.get_text() for axes in picture.figure.axes for text in axes.texts]
    assert "others" in texts and "31 × writes 1" in texts


def test_long_numbers_are_rounded_to_fit():
    assert [plots.schedules.value_text(value) for value in (9_999_999, 10_000_000, 0.125, None)] == [
        "9999999",
        "1e+07",
        "0.125",
        "?",
    ]


@pytest.mark.parametrize("language", KERNELS)
def test_the_explorer_scrubs_and_says_what_stands_where(language):
    explorer = widgets.schedules(KERNELS[language](), 1, 2, (zero(),))
    assert explorer.values["left"] == "in order" and explorer.values["step"] == explorer.controls["step"].max
    name = explorer.values["right"]
    assert explorer.shown.alt.startswith(f"In order: counter[0] ends as 1; {name}: counter[0] ends as 2. 25 schedules")
    assert choose(explorer, step=1).startswith("Step 1. in order: threads 0 and 1 at line")
    assert "reads 0, counter[0] holds 0" in explorer.shown.alt
    assert "nothing has happened yet" in choose(explorer, step=0)
    explorer.controls["right"].value = "in order"
    assert f'aria-label="{explorer.shown.alt}"' in explorer.view.value


def test_a_kernel_that_fails_under_one_schedule_says_so_there():
    source = r"""extern "C" __global__ void stuck(int* x) {
    int seen = x[0];
    x[0] = seen + 1;
    __syncwarp();
    if (x[0] == 2) x[1 << 20] = 1;
}"""
    found = interleavings(cp.RawKernel(source, "stuck"), 1, 2, (zero(),))
    failing = [run for run in found.runs if run.error is not None]
    assert failing and found.runs[0].error is None
    picture = plots.schedule_pair(found, found.runs[0], failing[0], 3)
    assert "it fails" in picture.finding or "fails" in picture.finding


def test_a_kernel_that_always_fails_shows_its_message():
    kernel = cp.RawKernel('extern "C" __global__ void far(int* x) { x[100] = 1; }', "far")
    explorer = widgets.schedules(kernel, 1, 2, (zero(),), seeds=range(2))
    assert 'role="alert"' in explorer.view.value and "outside global memory" in explorer.view.value


PAIRS = r"""
extern "C" __global__ void pairs(const float* x, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        if (t % (2 * d) == 0) s[t] += s[t + d];
    }
    if (t == 0) atomicAdd(out, s[0]);
}
extern "C" __global__ void wrong(const float* x, float* out, int n) { out[0] = x[n + threadIdx.x] + x[0]; }
"""
HILLIS_STEELE = r"""
extern "C" __global__ void hillis_steele(const float* x, float* out, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float *from = s, *to = s + n;
    from[t] = x[t];
    for (int d = 1; d < n; d *= 2) {
        __syncthreads();
        to[t] = t >= d ? from[t] + from[t - d] : from[t];
        float* other = from; from = to; to = other;
    }
    out[t] = from[t];
}
"""


@cuda.jit
def halves(x, out, n):
    s = cuda.shared.array(64, "float32")
    t, d = cuda.threadIdx.x, n // 2
    s[t] = x[t]
    while d > 0:
        cuda.syncthreads()
        if t < d:
            s[t] += s[t + d]
        d //= 2
    if t == 0:
        out[0] = s[0]


@cuda.jit
def by_shuffles(x, out, n):
    t, d = cuda.threadIdx.x, 1
    v = x[t]
    while d < n:
        left = cuda.shfl_up_sync(0xFFFFFFFF, v, d)
        if t >= d:
            v += left
        d *= 2
    out[t] = v


def said(explorer, **values) -> str:
    for name, value in values.items():
        explorer.controls[name].value = value
    return getattr(explorer.shown, "alt", explorer.shown)


def test_the_whole_tree_stands_in_the_stored_output():
    explorer = widgets.tree(cp.RawKernel(PAIRS, "pairs"))
    assert said(explorer) == "step 6 of 6: an atomic takes the value of thread 0, after 31 operations in 5 steps."
    assert unnamed_pictures(explorer._repr_mimebundle_()["text/html"]) == []


def test_idle_lanes_and_warps_that_left_are_counted():
    explorer = widgets.tree({"pairs": cp.RawKernel(PAIRS, "pairs"), "halves": halves}, start=64)
    assert said(explorer, step=0) == "pairs, 64 elements, loaded by 64 threads; 63 operations in 6 steps."
    assert said(explorer, step=3) == (
        "pairs, step 3 of 7: 8 of 64 threads work, in 2 warps; 56 threads of their warps idle along. "
        "56 of 63 operations done."
    )
    assert said(explorer, version="halves", step=3) == (
        "halves, step 3 of 6: 8 of 64 threads work, in 1 warp; 24 threads of the same warp idle along. "
        "56 of 63 operations done."
    )


def test_the_steps_follow_the_size_and_the_version():
    explorer = widgets.tree({"pairs": cp.RawKernel(PAIRS, "pairs"), "halves": halves}, start=32)
    step = explorer.controls["step"]
    assert (step.value, step.max) == (6, 6)
    explorer.controls["size"].value = 8
    assert (step.value, step.max) == (4, 4)
    explorer.controls["version"].value = "halves"
    assert (step.value, step.max) == (3, 3)
    explorer.controls["size"].value = 64
    assert step.max == 6 and "step 3 of 6" in explorer.shown.alt


def test_numbers_stand_in_the_boxes():
    explorer = widgets.tree(halves, threads=(8,), start=8)
    x = np.arange(8) * 5 % 9 + 1
    assert f">{x.sum()}<" in explorer.shown.image
    assert "size" not in explorer.controls and "version" not in explorer.controls


@pytest.mark.parametrize(("kernel", "additions"), [("cuda", 49), ("numba", 64)])
def test_a_scan_is_drawn_from_shared_memory_or_registers(kernel, additions):
    explorer = widgets.scan(cp.RawKernel(HILLIS_STEELE, "hillis_steele") if kernel == "cuda" else by_shuffles)
    assert said(explorer).startswith("step 4 of 4 adds ")
    assert said(explorer).endswith(f"{additions} additions in 4 steps in all.")
    x = np.arange(16) * 5 % 9 + 1
    for total in np.cumsum(x):
        assert f">{total}<" in explorer.shown.image
    assert said(explorer, step=0).startswith("16 elements before the scan; ")


def test_a_scan_has_sizes():
    explorer = widgets.scan(cp.RawKernel(HILLIS_STEELE, "hillis_steele"))
    assert "98 additions" not in said(explorer) and "129 additions in 5 steps" in said(explorer, size=32)


def test_arguments_of_a_kernel_of_ones_own():
    @cuda.jit
    def dot(x, y, out):
        t = cuda.threadIdx.x
        v = x[t] * y[t]
        for d in (4, 2, 1):
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
        if t == 0:
            out[0] = v

    def arguments(n):
        return cp.full(n, 2, "float32"), cp.full(n, 3, "float32"), cp.zeros(1, "float32")

    explorer = widgets.tree(dot, threads=(8,), start=8, arguments=arguments)
    assert said(explorer, step=1).startswith("step 1 of 4: 8 of 8 threads work")
    assert ">48<" in (said(explorer, step=4), explorer.shown.image)[1]


def test_what_is_wrong_with_a_kernel_is_said_in_place_of_the_picture():
    explorer = widgets.tree({"pairs": cp.RawKernel(PAIRS, "pairs"), "wrong": cp.RawKernel(PAIRS, "wrong")})
    assert "outside global memory, line 12" in said(explorer, version="wrong")
    assert 'role="alert"' in explorer.view.value
    assert said(explorer, version="pairs").startswith("pairs, step ")
