"""What only a machine with a GPU can show: the same kernels on it and on the virtual one, and times that are times."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from helpers.results.timing import benchmark
from tests.gpu.kernels import CASES, NAMES, ROWS, given, made
from vgpu.standins import cupy as virtual_cp
from vgpu.standins import numba_cuda as virtual_cuda
from vgpu.standins.calls import launch
from vgpu.tools.profile import profile
from vgpu.tools.steps.trace import trace

pytestmark = pytest.mark.gpu
each_kernel = pytest.mark.parametrize(("row", "language"), CASES, ids=NAMES)


@pytest.fixture(scope="module")
def cp():
    import cupy

    return cupy


@pytest.fixture(scope="module")
def cuda():
    import numba.cuda

    return numba.cuda


def virtual(row, language):
    """The same on the virtual GPU: kernel, arguments, output."""
    return made(row, language, virtual_cp, virtual_cuda), *given(row, language, virtual_cp.asarray)


def test_the_backend_is_the_gpu():
    from helpers import cp, cuda
    from vgpu.standins.backend import on_gpu

    assert on_gpu()
    assert (cp.__name__, cuda.__name__) == ("cupy", "numba.cuda")


@each_kernel
def test_both_give_the_same_result(row, language, cp, cuda):
    arguments, out = given(row, language, cp.asarray)
    launch(made(row, language, cp, cuda), row.grid, row.block, arguments)
    kernel, there, virtual_out = virtual(row, language)
    launch(kernel, row.grid, row.block, there)
    np.testing.assert_array_equal(out.get(), row.expected(row.arguments()))
    np.testing.assert_array_equal(virtual_out.get(), out.get())


@each_kernel
def test_a_profile_of_the_gpus_kernel_is_the_virtual_one(row, language, cp, cuda):
    arguments, out = given(row, language, cp.asarray)
    found = profile(made(row, language, cp, cuda), row.grid, row.block, arguments, device="A100")
    kernel, there, _ = virtual(row, language)
    assert repr(found) == repr(profile(kernel, row.grid, row.block, there, device="A100"))
    assert {key: found[key] for key in row.counts} == row.counts
    # It ran once, and the GPU's own arrays say so.
    np.testing.assert_array_equal(out.get(), row.expected(row.arguments()))


@each_kernel
def test_the_gpu_can_be_used_after_a_profile(row, language, cp, cuda):
    kernel = made(row, language, cp, cuda)
    profile(kernel, row.grid, row.block, given(row, language, cp.asarray)[0])
    arguments, out = given(row, language, cp.asarray)
    launch(kernel, row.grid, row.block, arguments)
    np.testing.assert_array_equal(out.get(), row.expected(row.arguments()))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_numbas_own_arrays_are_taken(row, cuda):
    arguments, out = given(row, "python", cuda.to_device)
    found = profile(row.python(cuda), row.grid, row.block, arguments)
    assert {key: found[key] for key in row.counts} == row.counts
    np.testing.assert_array_equal(out.copy_to_host(), row.expected(row.arguments()))


def test_a_trace_changes_nothing(cp, cuda):
    row = ROWS[0]
    arguments, out = given(row, "c", cp.asarray)
    found = trace(made(row, "c", cp, cuda), row.grid, row.block, arguments)
    kernel, there, _ = virtual(row, "c")
    assert found == trace(kernel, row.grid, row.block, there)
    np.testing.assert_array_equal(out.get(), np.ones(1000, np.float32))


def test_constants_set_on_the_gpu_are_seen(cp):
    module = cp.RawModule(
        code="""
        __constant__ float weights[4];
        extern "C" __global__ void weigh(float* x) { x[threadIdx.x] = weights[threadIdx.x % 4]; }
        """
    )
    weights = cp.ndarray(4, cp.float32, module.get_global("weights"))
    weights[...] = cp.arange(4, dtype=cp.float32) + 10
    x = cp.zeros(32, cp.float32)
    profile(module.get_function("weigh"), 1, 32, (x,))
    np.testing.assert_array_equal(x.get(), np.tile(np.arange(4, dtype=np.float32) + 10, 8))


def test_an_instance_of_a_template(cp):
    module = cp.RawModule(
        code="template<class T> __global__ void fill(T* x, T value) { x[threadIdx.x] = value; }",
        options=("-std=c++17",),
        name_expressions=["fill<double>"],
    )
    x = cp.zeros(32, cp.float64)
    found = profile(module.get_function("fill<double>"), 1, 32, (x, np.float64(2.5)))
    assert found["global_store_sectors"] == 8
    assert (x.get() == 2.5).all()


@pytest.mark.parametrize("language", ["c", "python"])
def test_times_are_measured_with_events(cp, cuda, language):
    n = 1 << 24
    x, y = cp.ones(n, cp.float32), cp.ones(n, cp.float32)
    row = ROWS[0]
    arguments = (np.float32(2), x, y) + ((np.int32(n),) if language == "c" else ())
    kernel = made(row, language, cp, cuda)
    found = benchmark(lambda: launch(kernel, n // 256, 256, arguments), bytes=12 * n, repeat=20)
    assert found.clock == "CUDA events" and len(found.samples) == 20
    assert 0 < found.minimum <= found.median
    # No GPU moves more than 20 TB/s, and none that runs CUDA 13 as little as 10 GB/s.
    assert 10 < found.bandwidth < 20_000


def test_a_recording_measures_copies_and_kernels_of_both_libraries(cp, cuda):
    from helpers import streams

    n = 1 << 22
    host = np.frombuffer(cp.cuda.alloc_pinned_memory(4 * n), np.float32, n)
    host[:] = 1
    pageable = np.ones(n, np.float32)
    x, y = cp.zeros(n, np.float32), cuda.to_device(np.zeros(n, np.float32))
    add = cp.RawKernel(
        'extern "C" __global__ void add(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }', "add"
    )

    @cuda.jit
    def twice(y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] *= 2

    add((n // 256,), (256,), (x,))
    twice[n // 256, 256](y)
    first, second = cp.cuda.Stream(non_blocking=True), cuda.stream()
    start, end = cp.cuda.Event(), cp.cuda.Event()
    with streams.record() as timeline:
        start.record(first)
        x.set(host, first)
        add((n // 256,), (256,), (x,), stream=first)
        x.get(first, out=host, blocking=False)
        end.record(first)
        y.copy_to_device(pageable, stream=second)
        twice[n // 256, 256, second](y)
        add((n // 256,), (256,), (x,))
        first.synchronize()
        second.synchronize()
    assert (host == 2).all()
    schedule = timeline.schedule()
    assert schedule.kind == "measured" and schedule.seconds > 0
    found = {(span.stream, span.engine, span.label, span.nbytes, span.pinned) for span in schedule.spans}
    kernels = {(span.label, span.grid, span.block) for span in schedule.spans if span.engine == "SMs"}
    assert {
        ("stream 1", "H2D", "H2D 16.0 MiB", 4 * n, True),
        ("stream 1", "SMs", "add (16384 blocks)", None, None),
        ("stream 1", "D2H", "D2H 16.0 MiB", 4 * n, True),
        ("stream 2", "SMs", "twice (16384 blocks)", None, None),
        ("the default stream", "SMs", "add (16384 blocks)", None, None),
    } <= found
    assert any(row[:2] == ("stream 2", "H2D") and row[4] is False for row in found)
    assert {(n // 256, 1, 1)} == {grid for _, grid, _ in kernels} and {(256, 1, 1)} == {block for *_, block in kernels}
    mine = [span for span in schedule.spans if span.stream == "stream 1"]
    assert all(0 <= span.start <= span.end <= schedule.seconds for span in schedule.spans)
    assert all(earlier.end <= later.start for earlier, later in pairwise(mine))
    assert schedule.host and {span.engine for span in schedule.host} == {"host"}
    # What the events say lies around what the records say, but for the clocks' grain of half a microsecond.
    assert 1e3 * (mine[-1].end - mine[0].start) <= timeline.elapsed(start, end) + 0.002
