"""Explorers: every move draws again from a run of the kernel, and says the new finding."""

import numpy as np
import pytest

from helpers import Launch, cp, cuda, plots, widgets
from helpers.pictures.widgets.explorer import WIDGET_VIEW, Explorer, slider
from helpers.pictures.widgets.explorers.steps import who_is_where
from helpers.workbook.run import unnamed_pictures
from tests.pictures.widgets.choose import choose
from vgpu.base.errors import OutOfBounds

COPY = r"""
extern "C" __global__ void copy(const float* source, float* target, int stride, int offset) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    target[i] = source[i * stride + offset];
}
"""
WHO = r"""
extern "C" __global__ void who(int* blocks, int* threads, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) {
        blocks[y * columns + x] = blockIdx.y * gridDim.x + blockIdx.x;
        threads[y * columns + x] = threadIdx.y * blockDim.x + threadIdx.x;
    }
}
"""


@cuda.jit
def numba_copy(source, target, stride, offset):
    i = cuda.grid(1)
    target[i] = source[i * stride + offset]


@cuda.jit
def numba_who(blocks, threads, rows, columns):
    x, y = cuda.grid(2)
    if x < columns and y < rows:
        blocks[y * columns + x] = cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x
        threads[y * columns + x] = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x


@cuda.jit
def x_is_row(blocks, threads, rows, columns):
    row, column = cuda.grid(2)
    if row < rows and column < columns:
        blocks[row * columns + column] = cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x
        threads[row * columns + column] = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x


KERNELS = {"cuda": lambda: cp.RawKernel(COPY, "copy"), "numba": lambda: numba_copy}


@pytest.mark.parametrize("language", KERNELS)
def test_the_sector_explorer_counts_what_the_kernel_does(language):
    explorer = widgets.sectors(KERNELS[language]())
    said = {}
    for stride, offset in ((1, 0), (1, 1), (2, 0), (4, 0), (8, 0), (32, 31)):
        explorer.controls["stride"].value, explorer.controls["offset"].value = stride, offset
        said[stride, offset] = explorer.shown.alt
        assert f'aria-label="{explorer.shown.alt}"' in explorer.view.value
    counts = {place: int(text.split(": ")[1].split()[0]) for place, text in said.items()}
    assert counts == {(1, 0): 4, (1, 1): 5, (2, 0): 8, (4, 0): 16, (8, 0): 32, (32, 31): 32}
    assert said[4, 0] == "stride 4, offset 0: 16 sectors for 1 load request, 25 % of the bytes used."


def test_the_sector_explorer_can_show_the_store():
    explorer = widgets.sectors(KERNELS["cuda"](), op="store", stride=(7, 7))
    assert explorer.shown.alt == "stride 7, offset 0: 4 sectors for 1 store request, 100 % of the bytes used."


@pytest.mark.parametrize("kernel", [lambda: cp.RawKernel(WHO, "who"), lambda: numba_who], ids=["cuda", "numba"])
def test_the_thread_grid_is_what_the_kernel_wrote(kernel):
    blocks, threads = who_is_where(kernel(), (2, 2), (4, 2), (3, 7))
    assert blocks.shape == (4, 8)
    assert blocks[2, 6] == 3 and threads[2, 6] == 2  # within the data, as the kernel wrote it
    assert blocks[3, 7] == 3 and threads[3, 7] == 7  # outside, as the launch has it
    explorer = widgets.thread_grid(kernel(), columns=7, rows=3, block=(4, 2))
    assert "over 3 × 7 elements, with 11 threads that the guard must stop" in explorer.shown.alt


def test_the_thread_grid_shows_what_a_kernel_never_reaches():
    explorer = widgets.thread_grid({"column": numba_who, "row": x_is_row}, columns=10, rows=3, block=(4, 4))
    assert explorer.shown.alt.endswith("with 18 threads that the guard must stop.")
    assert choose(explorer, version="row").endswith("over 3 × 10 elements, with 18 elements that no thread reaches.")
    blocks, _ = who_is_where(x_is_row, (3, 1), (4, 4), (3, 10))
    assert blocks.shape == (12, 10) and (blocks >= 0).sum() == 48  # all threads, those of x = 3 to 11 below the data


def test_timer_bars_follow_size_and_launches():
    explorer = widgets.timer_bars(lambda elements: elements / 1024)
    assert choose(explorer, launches=3).startswith("3 launches:")


def test_timer_bars_model_a_launch_of_the_size_that_is_chosen():
    def launch(elements):
        source = cp.zeros(elements, dtype="float32")
        return Launch(numba_copy, (elements + 255) // 256, 256, (source, source, 1, 0))

    explorer = widgets.timer_bars(launch, elements=1 << 16)
    model = launch(1 << 16).profile().model
    alone = 1e6 * (model.seconds - model.terms["launch"])
    assert explorer.shown.alt.startswith("1 launch: a clock that does not synchronise reads 5.0 µs, one that does ")
    assert f"reads {5 + alone:,.1f} µs" in explorer.shown.alt


def test_a_picture_is_drawn_once_for_the_same_values():
    calls = []

    def draw(n):
        calls.append(n)
        return plots.timer_bars(4, n)

    explorer = widgets.explore(draw, n=(1, 5))
    for n in (2, 1, 2, 1):
        explorer.controls["n"].value = n
    assert calls == [1, 2]


def test_one_bundle_holds_the_live_widget_and_a_still_first_frame():
    bundle = widgets.explore(lambda n: plots.timer_bars(4, n), n=(1, 5))._repr_mimebundle_()
    assert set(bundle) == {WIDGET_VIEW, "text/html", "text/plain"}
    assert "<img" in bundle["text/html"] and unnamed_pictures(bundle["text/html"]) == []


def test_the_view_keeps_its_height_and_names_its_picture():
    explorer = widgets.explore(lambda n: plots.timer_bars(4, n), n=(1, 5))
    assert explorer.view.layout.height.endswith("px")


def test_repr_says_values_and_finding_and_no_address():
    explorer = Explorer("e", lambda n: plots.timer_bars(4, n), {"n": slider("n", 1, 1, 5)})
    assert repr(explorer).startswith("e(n=1): 1 launch: a clock that does not synchronise reads 4.0 µs")
    assert "0x" not in repr(explorer)


def test_an_error_of_the_kernel_is_shown_in_place_of_the_picture():
    def draw(n):
        if n > 1:
            raise OutOfBounds("thread 3 <left> its array")
        return plots.timer_bars(4, n)

    explorer = widgets.explore(draw, n=(1, 2))
    explorer.controls["n"].value = 2
    assert 'role="alert"' in explorer.view.value and "thread 3 &lt;left&gt; its array" in explorer.view.value
    explorer.controls["n"].value = 1
    assert "<figure" in explorer.view.value


def test_sliders_say_their_name():
    explorer = widgets.sectors(KERNELS["cuda"]())
    assert [control.description for control in explorer.controls.values()] == ["stride", "offset"]
    assert explorer.values == {"stride": 1, "offset": 0}
    assert np.int32(explorer.controls["stride"].max) == 32
