"""cupy.cuda, cupy.random, cupy.linalg and cupy.testing on the virtual GPU."""

from operator import attrgetter
from types import SimpleNamespace

import numpy as np
import pytest

from vgpu.base.errors import Unsupported
from vgpu.standins import cupy as cp
from vgpu.standins import cupyx
from vgpu.standins.cupy.cudart import CUDARuntimeError
from vgpu.storage import memory


def test_there_is_one_device_and_it_says_that_it_is_virtual():
    assert cp.cuda.is_available() and cp.is_available()
    assert cp.cuda.runtime.getDeviceCount() == 1 and cp.cuda.runtime.getDevice() == 0
    properties = cp.cuda.runtime.getDeviceProperties(0)
    assert properties["name"].startswith(b"virtual GPU (modelled: ")
    device = cp.cuda.Device(0)
    assert f"{properties['major']}{properties['minor']}" == device.compute_capability
    assert device.attributes["MultiProcessorCount"] == properties["multiProcessorCount"]
    assert device.attributes["WarpSize"] == 32
    free, total = device.mem_info
    assert 0 < free <= total == properties["totalGlobalMem"]
    with device:
        cp.cuda.runtime.deviceSynchronize()
    for wrong in (lambda: cp.cuda.Device(1).use(), lambda: cp.cuda.runtime.setDevice(3)):
        with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidDevice"):
            wrong()


def test_the_modelled_gpu_is_followed():
    from vgpu.hardware import device as devices

    before = devices.current().name
    try:
        devices.device("H100")
        assert cp.cuda.Device(0).compute_capability == "90" and "H100" in cp.cuda.Device(0).name
    finally:
        devices.device(before)


def test_streams_and_events():
    stream = cp.cuda.Stream(non_blocking=True)
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null
    with stream as current:
        assert current is stream and cp.cuda.get_current_stream() is stream
        with cp.cuda.Stream():
            assert cp.cuda.get_current_stream() != stream
        assert cp.cuda.get_current_stream() is stream
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null
    start, end = cp.cuda.Event(), stream.record()
    with pytest.raises(ValueError, match="the start event was never recorded"):
        cp.cuda.get_elapsed_time(start, end)
    start.record(stream)
    end.record()
    stream.wait_event(end)
    end.synchronize()
    stream.synchronize()
    assert cp.cuda.get_elapsed_time(start, end) >= 0 and stream.done and end.done
    with pytest.raises(ValueError, match="disable_timing"):
        cp.cuda.get_elapsed_time(cp.cuda.Event(disable_timing=True), end)
    called = []
    stream.launch_host_func(called.append, 1)
    assert called == [1]
    stream.begin_capture()
    assert stream.is_capturing and len(stream.end_capture()._kept) == 0 and not stream.is_capturing


def test_streams_of_other_libraries_and_how_streams_look():
    stream = cp.cuda.Stream(non_blocking=True)
    assert stream.__cuda_stream__() == (0, stream.ptr) and repr(stream) == f"<Stream {stream.ptr} (device 0)>"
    assert repr(cp.cuda.Stream.null) == "<Stream 0 (device -1)>"
    same = cp.cuda.Stream.from_external(stream)
    assert same == stream and same.is_non_blocking
    with pytest.raises(TypeError, match="__cuda_stream__"):
        cp.cuda.Stream.from_external(7)
    with pytest.raises(TypeError, match="version 1"):
        cp.cuda.Stream.from_external(SimpleNamespace(__cuda_stream__=lambda: (1, 0)))


@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("stream.Stream", "Stream"),
        ("stream.get_current_stream", "get_current_stream"),
        ("memory.MemoryPool", "MemoryPool"),
        ("pinned_memory.PinnedMemoryPool", "PinnedMemoryPool"),
        ("device.Device", "Device"),
        ("graph.Graph", "Graph"),
        ("profiler.start", "runtime.profilerStart"),
    ],
)
def test_names_stand_in_the_modules_of_cupy_as_well(path, same):
    assert attrgetter(path)(cp.cuda) is attrgetter(same)(cp.cuda)


def test_errors_are_caught_under_cupys_names():
    with pytest.raises(cp.cuda.compiler.CompileException):
        cp.RawKernel('extern "C" __global__ void f() { x = 1; }', "f").compile()
    with pytest.raises(cp.cuda.driver.CUDADriverError):
        cp.RawKernel('extern "C" __global__ void f() {}', "f")((1,), (2048,), ())


def test_attributes_by_cudas_numbers():
    runtime = cp.cuda.runtime
    assert runtime.cudaDevAttrWarpSize == 10 and runtime.deviceGetAttribute(10, 0) == 32
    assert runtime.deviceGetAttribute("WarpSize") == 32
    with pytest.raises(CUDARuntimeError, match="WarpSize; not EccEnabled"):
        runtime.deviceGetAttribute(runtime.cudaDevAttrEccEnabled)


def test_pinned_arrays_of_cupyx():
    before = memory.usage("pinned")[0]
    x = cupyx.zeros_pinned((2, 3), np.float32)
    assert x.sum() == 0 and memory.usage("pinned")[0] == before + 24
    y = cupyx.empty_like_pinned(x.T)
    assert y.shape == (3, 2) and y.strides == (4, 12) and np.isnan(y).all()
    z = cupyx.zeros_like_pinned(cp.ones((4, 2)), dtype=int, shape=5)
    assert z.tolist() == [0] * 5 and cupyx.empty_pinned(7).shape == (7,)
    stream = cp.cuda.Stream()
    device = cp.empty((2, 3), cp.float32)
    x[...] = 4
    device.set(x, stream=stream)
    assert device.sum().item() == 24
    del x, y, z
    assert memory.usage("pinned")[0] == before


def test_scattering_and_roots_of_cupyx():
    x = cp.zeros(3)
    cupyx.scatter_add(x, cp.array([0, 2, 2]), 1.5)
    cupyx.scatter_max(x, cp.array([0, 1]), 1.0)
    cupyx.scatter_min(x, cp.array([2]), 2.0)
    assert x.tolist() == [1.5, 1, 2]
    assert cupyx.rsqrt(cp.array([4, 16], dtype=cp.float32)).tolist() == [0.5, 0.25]
    with cupyx.profiler.time_range("part", color_id=0), cupyx.profiler.profile():
        pass
    with pytest.raises(Unsupported, match=r"cupyx\.jit is not on the virtual GPU. Use numba's cuda\.jit"):
        cupyx.jit  # noqa: B018
    with pytest.raises(Unsupported, match=r"cupyx\.profiler\.benchmark.*vgpu\.profile"):
        cupyx.profiler.benchmark  # noqa: B018


def test_memory_pools_keep_the_books():
    pool = cp.get_default_memory_pool()
    before = pool.used_bytes()
    x = cp.zeros(1000, cp.float32)
    assert pool.used_bytes() == before + 4000 == pool.total_bytes()
    pool.set_limit(size=pool.used_bytes() + 100)
    try:
        with pytest.raises(cp.cuda.memory.OutOfMemoryError, match="out of memory on the virtual GPU"):
            cp.zeros(1000)
    finally:
        pool.set_limit(0)
    assert pool.get_limit() == 0
    pool.set_limit(fraction=0.5)
    assert pool.get_limit() == cp.cuda.runtime.memGetInfo()[1] // 2
    pool.set_limit(0)
    del x
    pool.free_all_blocks()
    assert pool.used_bytes() == before and pool.n_free_blocks() == 0


def test_allocators_and_pointers():
    pointer = cp.cuda.alloc(64)
    x = cp.ndarray((16,), cp.int32, pointer)
    assert (x == -1).all() and x.data.ptr == pointer.ptr
    pointer.memset(0, 32)
    assert x.sum().item() == -8
    host = np.arange(4, dtype=np.int32)
    (pointer + 16).copy_from_host(host.ctypes.data, 16)
    assert x[4:8].tolist() == [0, 1, 2, 3]
    pointer.copy_from_device(pointer + 16, 16)
    back = np.zeros(4, np.int32)
    pointer.copy_to_host(back.ctypes.data, 16)
    assert back.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="do not fit"):
        pointer.memset(0, 65)
    with pytest.raises((ValueError, TypeError)):
        cp.ndarray((17,), cp.int32, pointer)
    calls = []
    with cp.cuda.using_allocator(lambda size: calls.append(size) or cp.cuda.MemoryPool().malloc(size)):
        cp.cuda.alloc(10)
    assert calls == [10]


def test_pinned_memory():
    before = memory.usage("pinned")[0]
    place = cp.cuda.alloc_pinned_memory(80)
    host = np.frombuffer(place, np.float64, 10).reshape(2, 5)
    host[...] = np.arange(10).reshape(2, 5)
    x = cp.empty((2, 5))
    x.set(host)
    assert x.sum().item() == 45 and place.size() == 80
    assert memory.usage("pinned")[0] == before + 80
    cp.get_default_pinned_memory_pool().free_all_blocks()
    del place
    assert host[1, 4] == 9  # the array keeps the memory
    del host
    assert memory.usage("pinned")[0] == before


def test_runtime_copies_and_their_checks():
    runtime = cp.cuda.runtime
    ptr = runtime.malloc(16)
    host = np.arange(4, dtype=np.int32)
    runtime.memcpy(ptr, host.ctypes.data, 16, runtime.memcpyHostToDevice)
    runtime.memset(ptr, 0, 4)
    back = np.empty(4, np.int32)
    runtime.memcpyAsync(back.ctypes.data, ptr, 16, runtime.memcpyDeviceToHost, 0)
    assert back.tolist() == [0, 1, 2, 3]
    with pytest.raises(CUDARuntimeError, match="destination's 17 bytes are not on the device"):
        runtime.memcpy(ptr, host.ctypes.data, 17, runtime.memcpyHostToDevice)
    runtime.free(ptr)
    with pytest.raises(CUDARuntimeError, match="not given by malloc, or is free already"):
        runtime.free(ptr)
    with pytest.raises(CUDARuntimeError, match="source"):
        runtime.memcpy(back.ctypes.data, ptr, 16, runtime.memcpyDeviceToHost)


def test_nvtx_is_accepted():
    nvtx = cp.cuda.nvtx
    nvtx.RangePush("step")
    nvtx.Mark("here")
    assert nvtx.RangePop() is None
    first = nvtx.RangeStart("a")
    assert nvtx.RangeStart("b") != first
    nvtx.RangeEnd(first)


# --- random ---


@pytest.mark.parametrize("draw", [
    lambda r: r.rand(3, 2),
    lambda r: r.randn(4),
    lambda r: r.normal(1, 2, (2, 2)),
    lambda r: r.uniform(-1, 1, 5),
    lambda r: r.randint(0, 10, (3,)),
    lambda r: r.random((2, 3)),
    lambda r: r.permutation(6),
    lambda r: r.choice(5, 3),
    lambda r: r.standard_normal(3),
    lambda r: r.poisson(3, 4),
])  # fmt: skip
def test_random_repeats_with_its_seed(draw):
    cp.random.seed(7)
    first = draw(cp.random)
    cp.random.seed(7)
    again = draw(cp.random)
    other = draw(cp.random.RandomState(8))
    assert isinstance(first, cp.ndarray) and first.shape == again.shape == other.shape
    assert (first == again).all() and memory.owner(first._host) is not None


def test_random_dtypes_and_0d():
    assert cp.random.rand(2, dtype=cp.float32).dtype == np.float32
    assert cp.random.normal(0, 1, (2,), dtype=np.float32).dtype == np.float32
    assert cp.random.rand().shape == () and cp.random.randint(5).shape == ()
    assert cp.random.randint(0, 5, 3, dtype=np.int32).dtype == np.int32
    with pytest.raises(TypeError, match="float32 and float64"):
        cp.random.rand(2, dtype=np.int32)
    with pytest.raises(TypeError, match="Unsupported type"):
        cp.random.choice(np.arange(3), 2)


def test_random_statistics():
    cp.random.seed(0)
    x = cp.random.standard_normal(20_000, dtype=cp.float32)
    assert abs(float(x.mean())) < 0.03 and abs(float(x.std()) - 1) < 0.03
    y = cp.arange(10)
    cp.random.shuffle(y)
    assert sorted(y.tolist()) == list(range(10))


def test_generator():
    a, b = cp.random.default_rng(3), cp.random.default_rng(3)
    assert (a.random(5) == b.random(5)).all() and (a.integers(0, 9, 5) == b.integers(0, 9, 5)).all()
    assert a.standard_normal((2, 2), dtype=np.float32).dtype == np.float32
    assert a.random().shape == ()


# --- linear algebra, testing ---


@pytest.mark.parametrize("function", [
    lambda la, a: la.norm(a),
    lambda la, a: la.inv(a),
    lambda la, a: la.det(a),
    lambda la, a: la.solve(a, a[0]),
    lambda la, a: la.cholesky(a),
    lambda la, a: la.qr(a)[1],
    lambda la, a: la.svd(a, compute_uv=False),
    lambda la, a: la.eigh(a)[0],
    lambda la, a: la.eigvalsh(a),
    lambda la, a: la.pinv(a),
    lambda la, a: la.matrix_power(a, 3),
    lambda la, a: la.slogdet(a)[1],
    lambda la, a: la.lstsq(a, a[0], rcond=None)[0],
])  # fmt: skip
def test_linear_algebra(function):
    a = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 5]])
    result = function(cp.linalg, cp.asarray(a))
    assert isinstance(result, cp.ndarray)
    np.testing.assert_allclose(result.get(), function(np.linalg, a), rtol=1e-12)


def test_assertions_take_both_kinds():
    x = cp.arange(3.0)
    cp.testing.assert_array_equal(x, x.get())
    cp.testing.assert_allclose(x.get(), x * (1 + 1e-9))
    with pytest.raises(AssertionError):
        cp.testing.assert_allclose(x, x + 1)


def test_stride_tricks():
    x = cp.arange(6)
    windows = cp.lib.stride_tricks.sliding_window_view(x, 3)
    assert windows.tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]]
    cp.lib.stride_tricks.as_strided(x, (3,), (16,))[1] = 70
    assert x[2].item() == 70
