"""What only a machine with a GPU can show: the same kernels on it and on the virtual one, and times that are times."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.calls import launch
from helpers.profile import profile
from helpers.timing import benchmark
from helpers.vgpu import cupy as virtual_cp
from helpers.vgpu import numba_cuda as virtual_cuda
from helpers.vgpu.trace import trace
from tests.gpu.kernels import CASES, NAMES, ROWS, given, made

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
    from helpers.backend import on_gpu

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
