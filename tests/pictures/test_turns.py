"""Warps that take turns and lanes that queue, for cases worked out on paper."""

import numpy as np
import pytest
from matplotlib.text import Text

from helpers import Launch, cp, cuda, plots, trace, turns
from helpers.pictures import figures

LEFT = r"""
extern "C" __global__ void left(const float* x, float* out) {
    __shared__ float s[96];
    int t = threadIdx.x;
    s[t] = x[t];
    BARRIER
    out[t] = t > 0 ? s[t] - s[t - 1] : 0;
}
"""


def left(barrier: str = "") -> Launch:
    kernel = cp.RawKernel(LEFT.replace("BARRIER", barrier), "left")
    return Launch(kernel, 1, 96, (cp.arange(96, dtype="float32"), cp.zeros(96, "float32")))


def test_in_order_each_warp_writes_then_reads_and_nothing_is_early():
    found = turns(left())
    assert [(turn.warp, turn.line, turn.op) for turn in found.turns] == [
        (warp, line, op) for warp in range(3) for line, op in ((5, "writes"), (7, "reads"))
    ]
    assert (found.early, len(found.handovers), found.opened) == (0, 95, ())


@pytest.mark.parametrize(("barrier", "early", "opened"), [("", True, 0), ("__syncthreads();", False, 1)])
def test_a_barrier_of_the_block_leaves_no_arrow_that_leads_back(barrier, early, opened):
    found = turns(left(barrier), seed=1)
    assert (found.early > 0, len(found.opened)) == (early, opened)
    if opened:
        assert all(each.written <= found.opened[0] < each.read for each in found.handovers)
    picture = plots.warp_turns([found])
    assert f"of 95 elements that one thread writes and another reads, {found.early} " in picture.finding
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def test_a_kernel_without_shared_memory_has_no_turns():
    @cuda.jit
    def nothing(x):
        x[cuda.grid(1)] = 1

    found = turns(Launch(nothing, 1, 64, (cp.zeros(64, "float32"),)))
    assert (found.turns, found.handovers) == ((), ())
    assert plots.warp_turns([found]).finding.startswith("nothing: of 0 elements")


@cuda.jit
def counting(values, counts):
    mine = cuda.shared.array(64, np.int32)
    mine[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    cuda.atomic.add(mine, values[cuda.threadIdx.x], 1)
    cuda.syncthreads()
    counts[cuda.threadIdx.x] = mine[cuda.threadIdx.x]


def test_the_longest_queue_is_that_at_the_hot_word():
    values = cp.asarray([7] * 29 + [1, 2, 3] + [0] * 32, dtype="int32")
    found = trace(counting, 1, 64, (values, cp.zeros(64, "int32")), warp=0)
    picture = plots.atomic_queues([found], titles=["hot"])
    assert picture.finding.endswith("hot: 32 lanes at 4 words, the longest queue is 29.")


@pytest.mark.parametrize("panels", [1, 3])
def test_no_word_of_the_queues_lies_outside_the_picture(panels):
    values = cp.asarray([7] * 29 + [1, 2, 3] + [0] * 32, dtype="int32")
    found = trace(counting, 1, 64, (values, cp.zeros(64, "int32")), warp=0)
    figure = plots.atomic_queues(panels * [found]).figure
    figure.draw_without_rendering()
    words = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    room = figure.bbox
    for text in words:
        box = text.get_window_extent()
        assert room.x0 <= box.x0 < box.x1 <= room.x1, text.get_text()
        assert room.y0 <= box.y0 < box.y1 <= room.y1, text.get_text()


def test_what_cannot_be_drawn_is_refused():
    found = trace(left().kernel, 1, 96, left().args)
    with pytest.raises(ValueError, match="no atomic on shared memory"):
        plots.atomic_queues([found])
    with pytest.raises(ValueError, match="2 titles for 1 kernels"):
        plots.atomic_queues([found], titles=["a", "b"])
    with pytest.raises(ValueError, match="1 to 3 kernels"):
        plots.warp_turns([])
    with pytest.raises(TypeError, match="Launch"):
        turns(left().kernel)
