"""How a launch shares its work out: the instructions and requests of each warp, from the launch that is counted."""

import numpy as np
import pytest

from vgpu import cp, cuda, profile
from vgpu.base import schedule
from vgpu.launch.shares import Shares
from vgpu.tools.steps.balance import shares, who_does_most


@cuda.jit
def shared_out(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = 2 * x[i]


@cuda.jit
def last_warp_alone(x, out):
    first = cuda.gridsize(1) - 32
    if cuda.grid(1) >= first:
        for i in range(cuda.grid(1) - first, x.size, 32):
            out[i] = 2 * x[i]


@cuda.jit
def one_block_alone(x, out):
    if cuda.blockIdx.x == 2:
        for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
            out[i] = 2 * x[i]


@cuda.jit
def tenth_row_alone(x, out):
    if cuda.blockIdx.x == 1 and cuda.blockIdx.y == 10:
        for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
            out[i] = 2 * x[i]


@cuda.jit
def four_each(x, out):
    for i in range(4 * cuda.grid(1), min(x.size, 4 * cuda.grid(1) + 4)):
        out[i] = 2 * x[i]


@cuda.jit
def by_turns(x, out):
    """Each block waits for the one before it; a warp waits at barriers, and its lanes part."""
    for i in range(cuda.threadIdx.x, 100 * (cuda.blockIdx.x + 1), cuda.blockDim.x):
        cuda.atomic.add(out, 1 + i % 8, x[i])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        while cuda.atomic.add(out, 0, 0) < cuda.blockIdx.x:
            pass
        cuda.threadfence()
        cuda.atomic.add(out, 0, 1)


def arrays(n=1024):
    return cp.arange(n, dtype="float32"), cp.zeros(n, dtype="float32")


def test_warps_that_share_the_work_execute_as_much_each():
    counts = shares(shared_out, 4, 64, arrays()).instructions
    assert counts.shape == (4, 2) and len(set(counts.ravel().tolist())) == 1


def test_a_warp_that_works_alone_shows_wherever_it_is():
    counts = shares(last_warp_alone, 4, 64, arrays()).instructions.ravel()
    assert counts[-1] > 10 * max(counts[:-1])


def test_arrays_stay_as_they_are():
    x, out = arrays()
    shares(shared_out, 4, 64, (x, out))
    assert not np.any(out.get())


def requests(counted):
    return sum(counted[f"global_{op}_requests"] for op in ("load", "store", "atomic"))


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "who"),
    [
        (shared_out, 4, 64, ""),
        (four_each, 16, 64, ""),  # three quarters of the blocks have nothing to do, and those that work are four
        (one_block_alone, 4, 64, "block 2"),
        (one_block_alone, 40, 64, "block 2"),  # idling takes more instructions than the work
        (last_warp_alone, 4, 64, "warp 1 of block 3"),
        (one_block_alone, 3, 64, ""),  # one of three
        (one_block_alone, 3, 32, ""),
        (tenth_row_alone, (2, 20), 64, "block (1, 10, 0)"),
    ],
)
def test_who_asks_for_more_than_half(kernel, grid, block, who):
    assert who_does_most(kernel, grid, block, arrays()) == who
    counted = profile(kernel, grid, block, arrays())
    assert counted.by_warp.who_does_most() == who
    assert counted.by_warp.requests.sum() == requests(counted)
    assert counted.by_warp.instructions.sum() == counted["instructions"]


@pytest.mark.parametrize(
    ("requests", "grid", "who"),
    [
        ([[2], [1], [1], [0]], (4, 1, 1), ""),  # exactly half
        ([[3], [1], [0], [0]], (4, 1, 1), "warp 0 of block 0"),
        ([[3], [0], [0]], (3, 1, 1), ""),  # one of three
        ([[0]] * 15 + [[1]] + [[0]] * 8, (2, 3, 4), "warp 0 of block (1, 1, 2)"),
    ],
)
def test_most_is_more_than_half_of_at_least_four(requests, grid, who):
    assert Shares(np.zeros_like(requests), np.array(requests), grid).who_does_most() == who


def test_threads_schedules_and_blocks_set_aside_change_nothing_about_who_did_what():
    """What lanes do that part, and how often they ask in vain, is the schedule's; the loops before that are not."""
    from vgpu.launch import launch

    def counted(threads=None):
        args = cp.ones(1024, dtype="float32"), cp.zeros(16, dtype="int32")
        prepared = by_turns.prepare(args, grid=6, block=96)
        found = launch.launch(prepared.kernel, 6, 96, prepared.params, prepared.arrays, observe=True, threads=threads)
        assert found.by_warp.instructions.sum() == found.total["instructions"]
        assert found.by_warp.requests.sum() == requests(found)
        return found.by_warp

    first = counted(1)
    for other in (counted(2), counted(5)):
        # The first warp of a block asks until it is its turn.
        np.testing.assert_array_equal(first.instructions[:, 1:], other.instructions[:, 1:])
        np.testing.assert_array_equal(first.requests[:, 1:], other.requests[:, 1:])
    with schedule.scheduled("random", seed=3):
        counted()


ROADS = r"""
__constant__ float table[32];
extern "C" __global__ void roads(const float* x, float* out, cudaTextureObject_t t) {
    __shared__ __align__(16) float s[256];
    __shared__ long long bar;
    int i = threadIdx.x, lane = i % 32, warp = i / 32;
    unsigned int b = __cvta_generic_to_shared(&bar), p = __cvta_generic_to_shared(s + i);
    if (i == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b));
    s[i] = 0;
    __syncthreads();
    if (warp == 0 && lane == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 272;" :: "r"(b));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 272, [%2];"
                     :: "r"(p), "l"(x), "r"(b) : "memory");
    }
    if (warp == 1) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(p), "l"(x + i) : "memory");
    if (warp == 2) s[i] = tex1Dfetch<float>(t, lane);
    if (warp == 3) s[i] = table[lane];
    if (warp == 4) s[i] = (t ? s : out)[lane];
    if (warp == 5) atomicAdd(out + lane, 1.f);
    if (warp == 6) s[i] = (t ? x : s)[lane];
    asm volatile("cp.async.wait_all;");
}
"""


def test_requests_of_every_road_to_global_memory_are_the_warps_that_made_them():
    x, out = cp.zeros(1024, "float32"), cp.zeros(1024, "float32")
    runtime, texture = cp.cuda.runtime, cp.cuda.texture
    channel = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    resource = texture.ResourceDescriptor(runtime.cudaResourceTypeLinear, arr=x, chDesc=channel, sizeInBytes=4096)
    bound = texture.TextureObject(resource, texture.TextureDescriptor())
    found = shares(cp.RawKernel(ROADS, "roads", options=("-arch=sm_90",)), 1, 256, (x, out, bound))
    assert found.requests.tolist() == [[3, 1, 1, 0, 0, 1, 1, 0]]
