"""The votes of a warp, and the places they give: drawn from what a kernel of votes wrote."""

from __future__ import annotations

import re

import numpy as np
import pytest

from helpers import cp
from helpers.pictures import figures, plots

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
        "In warp 0 lanes 0, 3, 7 with 0, 1, 2 votes below write to places 0, 1, 2. "
        "In warp 1 no lane votes yes, so none writes. "
        "In warp 2 lanes 6, 31 with 0, 1 votes below write to places 3, 4."
    )
    words = shown(drawing)
    assert words.count("1") >= 5 and {"0 + 2 = 2", "3 + 1 = 4", "95"} <= set(words)
    assert "warp 2: 2 lanes vote yes, and its places begin at 3" in words
    assert drawing.svg.count('stroke-width="1.2"') == 5
    assert figures.finding(drawing.finding) and len(drawing.svg) < figures.LARGEST_SVG


@pytest.mark.parametrize(
    ("threads", "said"),
    [
        ((), "In warp 3 no lane votes yes, so none writes."),
        ((127,), "In warp 3 lane 31 with 0 votes below writes to place 0."),
        (range(128), "In warp 3 32 lanes vote yes: they write to places 96 to 127 without a gap."),
        (range(1, 128, 2), "In warp 3 16 lanes vote yes: they write to places 48 to 63 without a gap."),
    ],
)
def test_warps_of_no_lane_one_lane_and_all_lanes(threads, said):
    assert plots.vote_places(*run(wanting(*threads)), warps=(3,)).finding == said


def test_the_order_of_the_warps_in_the_list_is_that_of_their_atomics():
    words = [0b101, 0b11]
    assert "lanes 0, 2 with 0, 1 votes below write to places 2, 3" in plots.vote_places(words, [32, 33, 0, 2]).finding


@pytest.mark.parametrize(
    ("words", "todo", "warps", "match"),
    [
        ([1], [0], (), "1 to 4 warps, not 0"),
        ([1] * 5, [0, 32, 64, 96, 128], range(5), "1 to 4 warps, not 5"),
        ([0b11], [1, 0], (0,), "not its start plus the votes below"),
        ([0b101], [0, 9, 2], (0,), "not its start plus the votes below"),
        ([0b11], [0], (0,), "element 1 stands 0 times in the list"),
        ([0b1], [0, 0], (0,), "element 0 stands 2 times in the list"),
    ],
)
def test_what_is_no_list_of_these_votes_is_refused(words, todo, warps, match):
    with pytest.raises(ValueError, match=match):
        plots.vote_places(words, todo, warps=warps)
