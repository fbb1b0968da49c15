"""Interleavings of a few threads: each step, what memory holds after it, and how the results differ."""

import numpy as np
import pytest

from helpers import cp, cuda
from vgpu.tools.steps.interleaving import interleavings

TALLY = r"""
extern "C" __global__ void tally(int* counter) {
    int seen = *counter;
    seen = seen + 1;
    *counter = seen;
}
"""
LEFT = r"""
extern "C" __global__ void left(const float* x, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    BARRIER
    out[t] = t > 0 ? s[t] - s[t - 1] : 0;
}
"""


@cuda.jit
def numba_tally(counter):
    counter[0] += 1


KERNELS = {"cuda": lambda: cp.RawKernel(TALLY, "tally"), "numba": lambda: numba_tally}


def zero(n=1):
    return cp.zeros(n, np.int32)


def left(barrier=""):
    kernel = cp.RawKernel(LEFT.replace("BARRIER", barrier), "left")
    return kernel, (cp.arange(64, dtype=np.float32), cp.zeros(64, np.float32))


@pytest.mark.parametrize("language", KERNELS)
def test_a_lost_update_is_told_step_by_step(language):
    counter = zero()
    found = interleavings(KERNELS[language](), 1, 2, (counter,))
    assert found.threads == (0, 1) and [str(cell) for cell in found.watched] == ["counter[0]"]
    assert found.results == 2 and found.tried == 25
    assert counter.get().tolist() == [0], "a recording changes nothing"
    assert found.runs[0].name == "in order" and found.runs[0].outcome == (1,)
    kept = next(run for run in found.runs if run.outcome == (2,))
    accesses = [(d.thread, d.op, d.value, row.memory) for row in kept.rows for d in row.deeds if d.op != "compute"]
    first, second = accesses[0][0], accesses[2][0]
    assert {first, second} == {0, 1}
    assert accesses == [
        (first, "load", 0, (0,)),
        (first, "store", 1, (1,)),
        (second, "load", 1, (1,)),
        (second, "store", 2, (2,)),
    ]


def test_computing_on_a_line_of_its_own_is_a_step():
    found = interleavings(KERNELS["cuda"](), 1, 2, (zero(),))
    ops = [[deed.op for deed in row.deeds] for row in found.runs[0].rows]
    assert ops == [["load", "load"], ["compute", "compute"], ["store", "store"]]
    assert [row.line for row in found.runs[0].rows] == [3, 4, 5]


def test_two_threads_of_different_warps_are_chosen_with_the_element_between_them():
    kernel, args = left()
    found = interleavings(kernel, 1, 64, args)
    assert found.threads == (31, 32)
    assert [str(cell) for cell in found.watched] == ["s[31]"] and [str(cell) for cell in found.telling] == ["out[32]"]
    in_order, *others = found.runs
    assert in_order.outcome == (1.0,)
    early = next(run for run in others if np.isnan(run.outcome[0]))
    reads = [at for at, row in enumerate(early.rows) for d in row.deeds if d.op == "load"]
    writes = [at for at, row in enumerate(early.rows) for d in row.deeds if d.op == "store" and str(d.cell) == "s[31]"]
    assert reads[0] < writes[0]


def test_a_barrier_makes_all_schedules_agree_and_is_among_the_steps():
    kernel, args = left("__syncthreads();")
    found = interleavings(kernel, 1, 64, args, seeds=range(8))
    assert found.results == 1
    for run in found.runs:
        order = [(d.op, d.thread) for row in run.rows for d in row.deeds]
        assert order.index(("store", 31)) < order.index(("barrier", 31)) < order.index(("load", 32))


def test_an_atomic_shows_what_lies_there_afterwards():
    kernel = cp.RawKernel('extern "C" __global__ void add(int* counter) { atomicAdd(counter, 1); }', "add")
    found = interleavings(kernel, 1, 3, (zero(),), threads=(0, 1, 2))
    assert found.results == 1 and found.runs[0].outcome == (3,)
    assert {deed.op for run in found.runs for row in run.rows for deed in row.deeds} == {"atomic"}


@cuda.jit
def numba_least(x, out):
    best = cuda.shared.array(1, "int64")
    if cuda.threadIdx.x == 0:
        best[0] = -5
    cuda.syncthreads()
    cuda.atomic.max(best, 0, x[cuda.threadIdx.x])
    cuda.syncthreads()
    out[cuda.threadIdx.x] = best[0]


def test_shared_memory_has_the_sign_that_its_instructions_say():
    args = (cp.asarray(np.array([-9, -7])), cp.zeros(2, "int64"))
    found = interleavings(numba_least, 1, 2, args, seeds=range(4))
    (cell,) = found.watched
    assert str(cell) == "best[0]"
    assert {row.memory for run in found.runs for row in run.rows} <= {(-5,), (-1,)}
    assert (-5,) in {row.memory for row in found.runs[0].rows}


def test_elements_are_counted_from_where_the_argument_begins():
    found = interleavings(KERNELS["cuda"](), 1, 2, (zero(4)[3:],), seeds=())
    assert [str(cell) for cell in found.watched] == ["counter[0]"]


def test_schedules_that_fail_count_as_one_more_result():
    source = """extern "C" __global__ void k() {
        __shared__ int s[64];
        s[threadIdx.x] = threadIdx.x;
        if (threadIdx.x >= 32 && s[threadIdx.x - 32] != threadIdx.x - 32) __trap();
    }"""
    found = interleavings(cp.RawKernel(source, "k"), 1, 64, (), seeds=range(8))
    assert found.results == 2 and any(run.error for run in found.runs)


def test_threads_that_the_block_lacks_are_refused():
    with pytest.raises(ValueError, match="one to 3 numbers from 0 to 1"):
        interleavings(KERNELS["cuda"](), 1, 2, (zero(),), threads=(0, 2))
