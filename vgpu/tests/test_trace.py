"""What a trace shows, and that looking changes nothing."""

import gc

import numpy as np
import pytest

from vgpu.base.errors import OutOfBounds
from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda as cuda
from vgpu.storage import memory
from vgpu.tools.steps.trace import trace


@cuda.jit
def shift(source, target, by):
    s = cuda.shared.array(64, np.float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    s[t] = source[i + by]
    cuda.syncthreads()
    if t % 2 == 0:
        target[i] = s[63 - t] + 1


FIRST = shift.py_func.__code__.co_firstlineno + 1


def arrays():
    source, target = cuda.to_device(np.arange(300, dtype=np.float32)), cuda.to_device(np.zeros(300, np.float32))
    return source, target


def test_each_access_knows_line_array_lanes_and_offsets():
    found = trace(shift, 4, 64, (*arrays(), 3), block_index=(1, 0, 0))
    kinds = [(a.space, a.op, a.array, a.line - FIRST, a.warp) for a in found.accesses]
    first = ("global", "load", "source", 4), ("shared", "store", None, 4)
    later = ("shared", "load", None, 7), ("global", "store", "target", 7)
    assert kinds == [(*k, w) for w in (0, 1) for k in first] + [(*k, w) for w in (0, 1) for k in later]
    load = found.accesses[0]
    assert load.addresses == tuple(4 * (64 + 3 + lane) for lane in range(32)) and all(load.lanes)
    store = found.accesses[-1]
    assert store.lanes == (True, False) * 16
    assert store.addresses == tuple(4 * (96 + lane) if lane % 2 == 0 else -1 for lane in range(32))
    assert [a.step for a in found.accesses if a.warp == 0] == sorted(a.step for a in found.accesses if a.warp == 0)


def test_one_warp_can_be_picked():
    found = trace(shift, 4, 64, (*arrays(), 0), warp=1)
    assert {a.warp for a in found.accesses} == {1} and len(found.accesses) == 4


def test_looking_changes_nothing():
    source, target = arrays()
    trace(shift, 4, 64, (source, target, 0))
    assert not target.copy_to_host().any()
    shift[4, 64](source, target, 0)
    assert target.copy_to_host().any()


def test_mistakes_are_found_and_undone():
    source, target = arrays()
    with pytest.raises(OutOfBounds):
        trace(shift, 8, 64, (source, target, 0), block_index=(5, 0, 0))
    assert not target.copy_to_host().any()
    with pytest.raises(IndexError, match="outside"):
        trace(shift, 4, 64, (source, target, 0), block_index=(4, 0, 0))


def test_nothing_is_left_behind():
    source, target = arrays()
    trace(shift, 4, 64, (source, target, 0))
    gc.collect()  # what earlier tests left in cycles
    before = memory.usage()
    trace(shift, 4, 64, (source, target, 0))
    assert memory.usage() == before


@cuda.jit
def overwrite(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = -1


def test_views_with_gaps_and_repetitions_are_put_back_too():
    x = cp.arange(64, dtype="float32")
    for view in (x[::2], x[::-1], cp.broadcast_to(x[5:6], (4096,))):
        found = trace(overwrite, 1, 64, (view,))
        assert {a.op for a in found.accesses} == {"store"}
        np.testing.assert_array_equal(x.get(), np.arange(64, dtype=np.float32))
