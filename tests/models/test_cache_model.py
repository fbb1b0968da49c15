"""The modelled cache: hits are counted by sector, the one not used for longest goes."""

import numpy as np
import pytest

from helpers import cp, cuda
from helpers.models.cache_model import cached, hit_rate, of_trace, requests
from vgpu.tools.steps.trace import Access, Trace


def touching(*sectors, nbytes=4, op="load", space="global"):
    """A trace of one-lane requests, one sector each."""
    lanes, idle = (True, *[False] * 31), (-1,) * 31
    return Trace("made", (0, 0, 0), tuple(
        Access(1, space, op, nbytes, lanes, (32 * sector, *idle), "x", 0, step) for step, sector in enumerate(sectors)
    ))  # fmt: skip


@pytest.mark.parametrize(("sectors", "room", "hits"), [
    ((0, 1, 2, 3), 4, 0),
    ((0, 0, 0, 0), 1, 3),
    ((0, 1, 0, 1), 2, 2),
    ((0, 1, 0, 1), 1, 0),
    ((0, 1, 0, 2, 0, 1), 2, 2),  # 1 is not used for longest when 2 comes
])  # fmt: skip
def test_the_sector_not_used_for_longest_goes(sectors, room, hits):
    assert of_trace(touching(*sectors), 32 * room) == hits / len(sectors)


def test_an_access_may_reach_into_several_sectors():
    assert of_trace(touching(0, 1, nbytes=64)) == 1 / 4  # sectors 0 and 1, then 1 and 2


@pytest.mark.parametrize("seen", [touching(), touching(0, op="store"), touching(0, space="shared")])
def test_without_such_a_request_there_is_no_rate(seen):
    assert of_trace(seen) is None


def test_a_cache_holds_whole_sectors():
    with pytest.raises(ValueError, match="whole sectors of 32 bytes"):
        of_trace(touching(0), 31)


CODE = r"""
extern "C" __global__ void chunks(const float* x, float* out) {
    for (int k = 0; k < 8; ++k) out[8 * threadIdx.x + k] = x[8 * threadIdx.x + k];
}
"""


@cuda.jit
def numba_chunks(x, out):
    for i in range(8 * cuda.grid(1), 8 * cuda.grid(1) + 8):
        out[i] = x[i]


@cuda.jit
def strided(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i]


@pytest.mark.parametrize(("kernel", "rate"), [
    (lambda: cp.RawKernel(CODE, "chunks"), 7 / 8), (lambda: numba_chunks, 7 / 8), (lambda: strided, 0),
], ids=["CUDA C: chunks", "Numba: chunks", "Numba: strided"])  # fmt: skip
def test_eight_floats_a_thread_are_found_seven_times_in_eight(kernel, rate):
    x, out = cp.zeros(256, np.float32), cp.zeros(256, np.float32)
    assert hit_rate(kernel(), 1, 32, (x, out)) == rate
    assert hit_rate(kernel(), 1, 32, (x, out), op="store") == rate


def test_each_request_is_told_with_its_place_and_its_hits():
    x, out = cp.zeros(64, np.float32), cp.zeros(64, np.float32)
    first, second = cached(strided, 1, 32, (x, out), nbytes=128)
    assert (first.array, first.first, first.sectors, first.hits) == ("x", 0, 4, 0)
    assert (second.first, second.sectors, second.hits) == (128, 4, 0)
    assert [each.hits for each in requests(touching(0, 1, 1), 32)] == [0, 0, 1]
