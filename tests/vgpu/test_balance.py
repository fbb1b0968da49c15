"""How a launch shares its work out: the instructions of each warp, and who asks for most of the memory."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import cp, cuda, profile
from helpers.vgpu.balance import shares, who_does_most
from helpers.vgpu.errors import KernelTimeout


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
def four_each(x, out):
    for i in range(4 * cuda.grid(1), min(x.size, 4 * cuda.grid(1) + 4)):
        out[i] = 2 * x[i]


@cuda.jit
def without_end(x, out):
    while x[0] == x[0]:
        out[0] = x[0]


def arrays(n=1024):
    return cp.arange(n, dtype="float32"), cp.zeros(n, dtype="float32")


def test_warps_that_share_the_work_execute_as_much_each():
    counts = shares(shared_out, 4, 64, arrays()).instructions
    assert len(counts) == 8 and len(set(counts)) == 1


def test_a_warp_that_works_alone_shows_wherever_it_is():
    counts = shares(last_warp_alone, 4, 64, arrays()).instructions
    assert counts[-1] > 10 * max(counts[:-1])


def test_all_warps_together_are_what_is_counted_elsewhere():
    for kernel in (shared_out, last_warp_alone):
        assert sum(shares(kernel, 4, 64, arrays()).instructions) == profile(kernel, 4, 64, arrays())["instructions"]


def test_arrays_stay_as_they_are():
    x, out = arrays()
    shares(shared_out, 4, 64, (x, out))
    assert not np.any(out.get())


def test_a_kernel_without_end_is_given_up():
    with pytest.raises(KernelTimeout):
        shares(without_end, 1, 32, arrays(), most=2000)


def requests(kernel, grid, block, args):
    counted = profile(kernel, grid, block, args)
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
    ],
)
def test_who_asks_for_more_than_half(kernel, grid, block, who):
    asked = requests(kernel, grid, block, arrays())
    assert who_does_most(kernel, grid, block, arrays(), asked) == who
    seen = shares(kernel, grid, block, arrays(), most=200_000)
    assert seen.who_does_most(asked) == who and sum(seen.requests) == asked


def test_nobody_is_named_where_it_takes_too_long_to_find_out():
    assert who_does_most(without_end, 4, 32, arrays(), 10**9) == ""
