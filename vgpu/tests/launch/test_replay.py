"""Kernels of a graph: run together where they can be, with the results, errors and limits of single launches."""

import os
import signal
import threading

import numpy as np
import pytest

from vgpu.base.errors import KernelError
from vgpu.base.schedule import scheduled
from vgpu.launch import launch
from vgpu.standins import cupy as cp

SOURCE = r"""
extern "C" __global__ void add(int* x, int by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += by;
}
extern "C" __global__ void twice(int* x) { x[threadIdx.x] *= 2; }
extern "C" __global__ void wait(volatile int* x) { while (x[0]) x[1] = 1; }
extern "C" __global__ void count(int* x, int steps) {
    int n = 0;
    for (int i = 0; i < steps; i++) { n += x[i & 1]; __syncthreads(); }
    x[2] = n;
}
extern "C" __global__ void print(int* x) { if (threadIdx.x == 0) printf("%d\n", x[0]); }
"""
MODULE = cp.RawModule(code=SOURCE)
ADD, TWICE, WAIT, COUNT, PRINT = map(MODULE.get_function, ("add", "twice", "wait", "count", "print"))


@pytest.fixture
def alone(monkeypatch):
    """The names of the kernels that are launched singly."""
    found, original = [], launch.launch
    monkeypatch.setattr(
        launch, "launch", lambda kernel, *a, **k: (found.append(kernel.name), original(kernel, *a, **k))
    )
    return found


def captured(*launches):
    """A graph of these launches: (kernel, blocks, threads, arguments)."""
    stream = cp.cuda.Stream(non_blocking=True)
    stream.begin_capture()
    for kernel, blocks, threads, arguments in launches:
        kernel((blocks,), (threads,), arguments, stream=stream)
    return stream.end_capture()


def test_small_kernels_run_together_in_order(alone):
    x = cp.zeros(64, np.int32)
    graph = captured(*[(ADD, 2, 32, (x, 1, 60)), (TWICE, 1, 32, (x,))] * 50, (ADD, 2, 32, (x, 7, 64)))
    expected = np.zeros(64, np.int64)
    for replay in range(3):
        kept = cp.zeros(8 + replay)  # a change of the table of allocations
        graph.launch()
        for _ in range(50):
            expected[:60] += 1
            expected[:32] *= 2
        expected += 7
        np.testing.assert_array_equal(x.get(), expected.astype(np.int32))
        del kept
    assert alone == []


def test_others_are_launched_singly_in_their_place(alone, capsys):
    x, large = cp.zeros(32, np.int32), cp.zeros(4096, np.int32)
    graph = captured(
        (ADD, 1, 32, (x, 1, 32)), (PRINT, 1, 32, (x,)), (ADD, 16, 256, (large, 5, 4096)), (TWICE, 1, 32, (x,)),
        (PRINT, 1, 32, (x,)),
    )  # fmt: skip
    for printed in ("1\n2\n", "3\n6\n"):
        graph.launch()
        assert capsys.readouterr().out == printed
    assert alone == ["print", "add", "print"] * 2 and (large.get() == 10).all()


def test_copies_stay_between_the_kernels():
    x, stream = cp.zeros(32, np.int32), cp.cuda.Stream(non_blocking=True)
    back = np.frombuffer(cp.cuda.alloc_pinned_memory(128), np.int32, 32)
    stream.begin_capture()
    ADD((1,), (32,), (x, 1, 32), stream=stream)
    x.get(stream, out=back, blocking=False)
    ADD((1,), (32,), (x, 10, 32), stream=stream)
    graph = stream.end_capture()
    for expected in (1, 12):
        graph.launch(stream)
        assert (back == expected).all() and (x.get() == expected + 10).all()


def test_listeners_and_schedules_launch_them_singly(alone):
    x = cp.zeros(32, np.int32)
    graph = captured((ADD, 1, 32, (x, 1, 32)), (TWICE, 1, 32, (x,)))
    with launch.counting():
        graph.launch()
    with scheduled("random", seed=2):
        graph.launch()
    graph.launch()
    assert alone == ["add", "twice"] * 2 and (x.get() == 14).all()


def test_a_fault_is_reported_as_ever_and_the_graph_can_run_again():
    x, n = cp.zeros(32, np.int32), cp.zeros(1, np.int32)
    bad = cp.RawKernel(
        'extern "C" __global__ void bad(int* x, const int* n) {\n    x[threadIdx.x + n[0]] += 1;\n}', "bad"
    )
    graph = captured((ADD, 1, 32, (x, 1, 32)), (bad, 1, 32, (x, n)), (TWICE, 1, 32, (x,)))
    graph.launch()
    assert (x.get() == 4).all()
    n[:] = 1 << 20
    with pytest.raises(KernelError, match=r"(?s)line 2.*x\[threadIdx\.x \+ n\[0\]\]"):
        graph.launch()
    assert (x.get() == 5).all()
    n[:] = 0
    graph.launch()
    assert (x.get() == 14).all()


def test_long_kernels_go_on_after_their_first_time_slice(alone):
    x, y = cp.zeros(32, np.int32), cp.ones(4, np.int32)
    steps = 300_000
    graph = captured((ADD, 1, 32, (x, 1, 32)), (COUNT, 1, 64, (y, steps)), (TWICE, 1, 32, (x,)))
    for expected in (2, 6):
        y[2:] = 0
        graph.launch()
        assert (x.get() == expected).all() and int(y[2]) == steps
    assert alone == []


def test_the_time_limit_and_ctrl_c_hold(monkeypatch):
    x = cp.zeros(2, np.int32)
    graph = captured((WAIT, 1, 32, (x,)))
    graph.launch()
    x[:] = 1
    monkeypatch.setenv("VGPU_TIMEOUT", "0.2")
    with pytest.raises(KernelError, match=r"0\.2 s"):
        graph.launch()
    monkeypatch.setenv("VGPU_TIMEOUT", "100")
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        graph.launch()
    timer.join()
    monkeypatch.setenv("VGPU_TIMEOUT", "0.3")
    with pytest.raises(KernelError, match=r"0\.3 s"):
        graph.launch()
    x[:] = 0
    graph.launch()


def test_arrays_of_the_host_are_copied_back_after_each_launch():
    from vgpu.standins import numba_cuda as cuda

    @cuda.jit
    def increase(v):
        v[cuda.threadIdx.x] += 1

    v, stream = np.zeros(32, np.float32), cp.cuda.Stream(non_blocking=True)
    with pytest.warns(match="Host array used"):
        stream.begin_capture()
        increase[1, 32, cuda.external_stream(stream.ptr)](v)
        graph = stream.end_capture()
    assert (v == 0).all()
    graph.launch(stream)
    assert (v == 1).all()


def test_what_ended_before_a_fault_is_finished():
    from vgpu.standins import numba_cuda as cuda

    @cuda.jit
    def increase(v, i):
        v[i] += 1

    v, stream = np.zeros(32, np.float32), cp.cuda.Stream(non_blocking=True)
    there = cuda.external_stream(stream.ptr)
    with pytest.warns(match="Host array used"):
        stream.begin_capture()
        increase[1, 1, there](v, 3)
        increase[1, 1, there](v, 1 << 20)
        graph = stream.end_capture()
    with pytest.raises(KernelError):
        graph.launch(stream)
    assert v[3] == 1
