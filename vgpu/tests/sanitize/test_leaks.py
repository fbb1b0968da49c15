"""Leaks: what outlives a `with` block, by the line that allocated it."""

import gc

import numpy as np

from vgpu import sanitize
from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda as cuda
from vgpu.storage import memory


def test_arrays_kept_are_counted_by_line():
    kept = []
    with sanitize.leaks() as found:
        for _ in range(3):
            kept.append(cp.zeros(256, cp.float32))
            kept.append(cuda.to_device(np.ones(8)))
    assert [(leak.count, leak.nbytes) for leak in found] == [(3, 3072), (3, 192)]
    assert found[0].file == "test_leaks.py" and found[0].source == "kept.append(cp.zeros(256, cp.float32))"
    assert found[1].line == found[0].line + 1
    assert not found.ok and found.nbytes == 3264
    assert repr(found).startswith("leaks: 6 allocations still alive, 3.2 KiB") and "0x" not in repr(found)


def test_what_is_freed_is_no_leak():
    with sanitize.leaks() as found:
        address = cp.cuda.runtime.malloc(512)
        held = cp.cuda.alloc(1024)
        a = cp.ones(100) + 1
        cp.RawKernel('extern "C" __global__ void k(double* a) { a[threadIdx.x] = 1; }', "k")((1,), (32,), (a,))
        cp.cuda.runtime.free(address)
        del held, a
    assert found.ok and not found and repr(found) == "leaks: none"


def test_pointers_are_named():
    with sanitize.leaks() as found:
        address = cp.cuda.runtime.malloc(512)
    (leak,) = found
    assert leak.what == "device memory" and leak.source == "address = cp.cuda.runtime.malloc(512)"
    cp.cuda.runtime.free(address)


def test_a_cycle_is_collected_before_the_count():
    class Node:
        pass

    gc.disable()
    try:
        with sanitize.leaks() as found:
            node = Node()
            node.self, node.array = node, cp.zeros(10)
            del node
    finally:
        gc.enable()
    assert found.ok


def test_nobody_listens_outside():
    with sanitize.leaks():
        pass
    assert not memory.ALLOCATED


def test_an_error_passes_through():
    try:
        with sanitize.leaks() as found:
            kept = cp.zeros(10)
            raise KeyError
    except KeyError:
        assert len(found) == 1 and kept.size == 10
