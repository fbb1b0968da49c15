"""Warps and lanes: what each does, turn by turn and vote by vote, drawn from what kernels wrote."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.text import Text

from helpers import Launch, cp, cuda, plots, trace, turns
from helpers.pictures import figures


def signed(elements, grid, block, covered):
    """Block and thread of each element where the first `covered` threads sign in rounds, and nobody else."""
    i = np.arange(elements) % (grid * block)
    came = i < covered
    return np.where(came, i // block, -1), np.where(came, i % block, -1)


@pytest.mark.parametrize(
    ("elements", "grid", "block", "said"),
    [
        (130, 3, 48, "3 blocks of 48 threads are 6 warps with 14 threads that the guard stops and 48 lanes without"),
        (64, 1, 64, "1 block of 64 threads are 2 warps with 0 threads that the guard stops and 0 lanes without"),
        (1, 2, 33, "2 blocks of 33 threads are 4 warps with 65 threads that the guard stops and 62 lanes without"),
    ],
)
def test_the_rows_of_warps_count_both_kinds_of_idle_lanes(elements, grid, block, said):
    picture = plots.warp_rows(*signed(elements, grid, block, elements), grid=grid, block=block)
    assert picture.finding.startswith(said)
    assert len(figures.svg(picture.figure)) < figures.LARGEST_SVG


def test_a_launch_that_does_not_fit_its_signatures_is_refused():
    with pytest.raises(ValueError, match="a signature is beyond them"):
        plots.warp_rows([0, 2], [0, 0], grid=2, block=32)
    with pytest.raises(ValueError, match="17 blocks of 32 have 17"):
        plots.warp_rows([0], [0], grid=17, block=32)


@pytest.mark.parametrize(
    ("elements", "each", "neighbours"),
    [
        (40, "each takes 2 or 3 elements", True),
        (48, "each takes 3 elements", True),
        (5, "each takes 0 or 1 elements", False),
    ],
)
def test_the_rounds_say_how_many_elements_a_thread_takes(elements, each, neighbours):
    finding = plots.round_rows(*signed(elements, 2, 8, 16), grid=2, block=8).finding
    assert finding.startswith(f"{elements} elements, 16 threads: {each}")
    assert ("neighbouring threads take neighbouring elements" in finding) is neighbours


def test_a_run_for_each_thread_is_no_round_of_neighbours():
    i = np.arange(48)
    assert "neighbours do not lie together" in plots.round_rows(i // 24, i // 3 % 8, grid=2, block=8).finding


def test_rounds_refuse_elements_that_were_left_out():
    with pytest.raises(ValueError, match="2 elements were taken by no thread"):
        plots.round_rows(*signed(4, 1, 4, 2), grid=1, block=4)


def test_the_orders_of_blocks_name_those_that_began_first():
    finding = plots.block_orders({"plain": [0, 1, 2, 3], "drawn": [3, 0, 2, 1]}).finding
    assert "plain: 0, 1, 2; drawn: 1, 3, 2." in finding


@pytest.mark.parametrize("orders", [{}, {"a": [0, 1], "b": [0]}, {"a": [0, 0]}, {"a": list(range(41))}])
def test_what_is_no_order_of_blocks_is_refused(orders):
    with pytest.raises(ValueError):
        plots.block_orders(orders)


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


@pytest.mark.parametrize(
    ("barrier", "early", "opened"), [("", True, 0), ("__syncwarp();", True, 0), ("__syncthreads();", False, 1)]
)
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


def test_an_element_that_is_written_again_is_no_hand_over():
    launch = Launch(counting, 1, 64, (cp.zeros(64, "int32"), cp.zeros(64, "int32")))
    assert turns(launch).handovers == ()


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


LISTED = r"""
extern "C" __global__ void listed(const int* wants, unsigned* words, int* todo, int* count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned who = __ballot_sync(0xffffffff, wants[i]);
    int start = 0;
    if (lane == 0) {
        words[i / 32] = who;
        start = atomicAdd(count, __popc(who));
    }
    start = __shfl_sync(0xffffffff, start, 0);
    if (wants[i]) todo[start + __popc(who & ((1u << lane) - 1))] = i;
}
"""


def run(wants):
    """The votes and the list of a launch in which the threads of `wants` say yes."""
    words, todo = cp.zeros(len(wants) // 32, dtype="uint32"), cp.zeros(len(wants), dtype="int32")
    count = cp.zeros(1, dtype="int32")
    given = cp.asarray(np.asarray(wants, np.int32))
    cp.RawKernel(LISTED, "listed")((len(wants) // 64,), (64,), (given, words, todo, count))
    return words.get(), todo.get()[: int(count[0])]


def wanting(*threads, of=128):
    return np.isin(np.arange(of), threads)


def shown(drawing):
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing.svg)


def test_the_places_are_those_that_the_kernel_wrote_to():
    drawing = plots.vote_places(*run(wanting(0, 3, 7, 70, 95)), warps=(0, 1, 2))
    assert drawing.finding == (
        "In warp 0 lanes 0, 3, 7 with 0, 1, 2 votes before write to positions 0, 1, 2. "
        "In warp 1 no lane votes yes, so none writes. "
        "In warp 2 lanes 6, 31 with 0, 1 votes before write to positions 3, 4."
    )
    words = shown(drawing)
    assert words.count("1") >= 5 and {"0 + 2 = 2", "3 + 1 = 4", "95"} <= set(words)
    assert "warp 2: 2 lanes vote yes, and its positions begin at 3" in words
    assert drawing.svg.count('stroke-width="1.2"') == 5
    assert figures.finding(drawing.finding) and len(drawing.svg) < figures.LARGEST_SVG


@pytest.mark.parametrize(
    ("threads", "said"),
    [
        ((), "In warp 3 no lane votes yes, so none writes."),
        ((127,), "In warp 3 lane 31 with 0 votes before writes to position 0."),
        (range(128), "In warp 3 32 lanes vote yes: they write to positions 96 to 127 without a gap."),
        (range(1, 128, 2), "In warp 3 16 lanes vote yes: they write to positions 48 to 63 without a gap."),
    ],
)
def test_warps_of_no_lane_one_lane_and_all_lanes(threads, said):
    assert plots.vote_places(*run(wanting(*threads)), warps=(3,)).finding == said


def test_the_order_of_the_warps_in_the_list_is_that_of_their_atomics():
    words = [0b101, 0b11]
    assert (
        "lanes 0, 2 with 0, 1 votes before write to positions 2, 3" in plots.vote_places(words, [32, 33, 0, 2]).finding
    )


@pytest.mark.parametrize(
    ("words", "todo", "warps", "match"),
    [
        ([1], [0], (), "1 to 4 warps, not 0"),
        ([1] * 5, [0, 32, 64, 96, 128], range(5), "1 to 4 warps, not 5"),
        ([0b11], [1, 0], (0,), "not its start plus the votes before"),
        ([0b101], [0, 9, 2], (0,), "not its start plus the votes before"),
        ([0b11], [0], (0,), "element 1 stands 0 times in the list"),
        ([0b1], [0, 0], (0,), "element 0 stands 2 times in the list"),
    ],
)
def test_what_is_no_list_of_these_votes_is_refused(words, todo, warps, match):
    with pytest.raises(ValueError, match=match):
        plots.vote_places(words, todo, warps=warps)
