"""The fix of a race fits all its pairs of threads, not the first that was met."""

import numpy as np
import pytest

from vgpu import cp, cuda, sanitize

NEIGHBOURS = r"""
extern "C" __global__ void difference(const float* x, float* out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    out[t] = t > 0 ? s[t] - s[t - 1] : 0;
}
"""
IN_PLACE = r"""
extern "C" __global__ void smooth(float* x) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    s[t] = t > 0 ? (s[t] + s[t - 1]) / 2 : 0;
    __syncthreads();
    x[t] = s[t];
}
"""
ACROSS = r"""
extern "C" __global__ void shift(float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = 2 * x[i];
    out[i] = i > 0 ? x[i - 1] : 0;
}
"""
TALLY = r"""
extern "C" __global__ void tally(int* counter) {
    int seen = *counter;
    seen = seen + 1;
    *counter = seen;
}
"""


@cuda.jit
def tally(counter):
    seen = counter[0]
    seen = seen + 1
    counter[0] = seen


@cuda.jit
def histogram(values, counts):
    counts[values[cuda.grid(1)]] += 1


def floats(count):
    return cp.arange(count, dtype="float32")


def only(kernel, grid, block, args):
    found = sanitize(kernel, grid, block, args, races_in_global=True)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("threads", "pairs", "fix"), [(32, 31, "__syncwarp()"), (33, 32, "__syncthreads()"), (256, 255, "__syncthreads()")]
)
def test_one_pair_across_warps_makes_it_a_barrier_of_the_block(threads, pairs, fix):
    race = only(cp.RawKernel(NEIGHBOURS, "difference"), 1, threads, (floats(256), floats(256)))
    assert race.count == pairs and fix in race.fix
    apart = {race.thread[0] // 32, race.other_thread[0] // 32}
    assert len(apart) == (1 if threads == 32 else 2), "the pair that is told is one that the fix is for"
    assert race.spans == (("warp",) if threads == 32 else ("warp", "block"))


def test_a_pair_across_blocks_rules_out_every_barrier_of_the_block():
    race = only(cp.RawKernel(ACROSS, "shift"), 2, 64, (floats(128), floats(128)))
    assert race.block != race.other_block and "two launches" in race.fix
    assert race.spans == ("warp", "block", "grid")


@pytest.mark.parametrize("grid", [1, 3])
@pytest.mark.parametrize("block", [2, 32, 96])
@pytest.mark.parametrize("kernel", [cp.RawKernel(TALLY, "tally"), tally], ids=["cuda", "numba"])
def test_an_update_in_three_steps_wants_an_atomic_and_no_barrier(kernel, grid, block):
    race = only(kernel, grid, block, (cp.zeros(1, "int32"),))
    assert race.kind == "race_read_write" and "atomic" in race.fix and "sync" not in race.fix


def test_an_update_of_elements_found_in_data_wants_an_atomic():
    values = cp.asarray(np.arange(128) % 3)
    assert "cuda.atomic.add" in only(histogram, 2, 64, (values, cp.zeros(3, "int32"))).fix


def test_averaging_in_place_is_no_update_of_one_element_by_several():
    race = only(cp.RawKernel(IN_PLACE, "smooth"), 1, 256, (floats(256),))
    assert "__syncthreads()" in race.fix and "atomic" not in race.fix
