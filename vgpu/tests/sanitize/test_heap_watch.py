"""The heap of kernels under the sanitizer: leaks by line, several schedules, correct programs that are not blamed."""

import numpy as np
import pytest

from vgpu.standins import cupy as cp
from vgpu.storage import heap
from vgpu.tools.sanitize import sanitize

KEEPS = """
struct Node { int value; Node* next; };
extern "C" __global__ void k(Node** kept, int* out, int keep) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Node* first = new Node{i, nullptr};
    Node* second = new Node{2 * i, first};
    out[i] = second->next->value + second->value;
    if (keep) kept[i] = second;
    else { delete second; delete first; }
}"""


@pytest.fixture(autouse=True)
def fresh_heap():
    heap.reset()
    yield
    heap.reset()


def arrays():
    return cp.zeros(64, np.int64), cp.zeros(64, np.int32)


def test_leaks_are_listed_by_the_kernels_line_with_thread_and_bytes():
    kept, out = arrays()
    kernel = cp.RawKernel(KEEPS, "k")
    kernel((2,), (32,), (kept, out, 1))  # before the block: not listed
    with sanitize.leaks() as found:
        kernel((2,), (32,), (kept, out, 0))
    assert found.ok
    with sanitize.leaks() as found:
        kernel((2,), (32,), (kept, out, 1))
    assert [(leak.line, leak.count, leak.nbytes) for leak in found] == [(5, 64, 1024), (6, 64, 1024)]
    assert "Node* second = new Node" in found[1].source and "kernel k" in found[1].what
    assert "thread (0) of block (0)" in repr(found)


def test_what_arrays_point_to_is_kept_and_what_hangs_on_it_too():
    kept, out = arrays()
    assert not sanitize(cp.RawKernel(KEEPS, "k"), 2, 32, (kept, out, 1))
    assert len(heap.current().live()) == 128


def test_what_is_overwritten_is_lost():
    kept, out = arrays()
    kernel = cp.RawKernel(KEEPS.replace("kept[i] = second", "kept[i / 2] = second"), "k")
    found = sanitize(kernel, 2, 32, (kept, out, 1))
    assert found.kinds == ("heap_leak",) and [f.line for f in found] == [5, 6]
    assert [f.count for f in found] == [32, 32]
    assert "the 16 bytes that thread (0) of block (0) allocated at line 5" in found[0].what
    assert found[0].what.endswith("the same holds for 32 allocations, 512 bytes in all.")
    assert not sanitize(kernel, 2, 32, (kept, out, 0)), "what an earlier launch lost is not this one's"


def test_several_schedules_begin_with_the_same_heap_and_pointers_may_differ():
    kept, out = arrays()
    kernel = cp.RawKernel(KEEPS, "k")
    kernel((2,), (32,), (kept, out, 1))
    before = heap.current().in_use
    assert not sanitize(kernel, 2, 32, (kept, out, 0), seeds=(1, 2, 3))
    assert heap.current().in_use == before
    fresh = arrays()
    assert not sanitize(kernel, 2, 32, (*fresh, 1), seeds=(1, 2, 3)), "pointers to the heap differ, and nothing else"
    assert heap.current().in_use == 2 * before


def test_memory_that_comes_round_again_belongs_to_its_new_owner():
    heap.set_limit(4096)
    kernel = cp.RawKernel("""
        extern "C" __global__ void k(int* out) {
            int sum = 0;
            for (int round = 0; round < 20; round++) {
                int* p = nullptr;
                while (!p) p = (int*)malloc(8 * sizeof(int));
                for (int j = 0; j < 8; j++) p[j] = threadIdx.x + j;
                for (int j = 0; j < 8; j++) sum += p[j];
                free(p);
            }
            out[threadIdx.x] = sum;
        }""", "k")  # fmt: skip
    out = cp.zeros(32, np.int32)
    assert not sanitize(kernel, 1, 32, (out,), races_in_global=True)
    np.testing.assert_array_equal(out.get(), 20 * (8 * np.arange(32) + 28))


def test_the_last_thread_frees_what_all_have_used():
    source = """
        extern "C" __global__ void k(int* out) {
            __shared__ int* table;
            __shared__ int done;
            if (threadIdx.x == 0) { table = new int[64]; done = 0; }
            __syncthreads();
            table[threadIdx.x] = threadIdx.x;
            __syncthreads();
            out[threadIdx.x] = table[63 - threadIdx.x];
            FENCE
            if (atomicAdd(&done, 1) == 63) delete[] table;
        }"""
    for fence in ("__threadfence();", ""):
        found = sanitize(
            cp.RawKernel(source.replace("FENCE", fence), "k"), 1, 64, (cp.zeros(64, np.int32),), races_in_global=True
        )
        assert found.kinds == (() if fence else ("race_read_write",)), repr(found)
        assert all("frees `table[" in f.what and {f.line, f.other_line} == {9, 11} for f in found)
