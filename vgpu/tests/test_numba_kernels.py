"""Kernels in Python, run through the stand-in for `numba.cuda` and compared with NumPy."""

from __future__ import annotations

import enum
import math
import warnings
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.cuda.extending import overload

import vgpu.standins.numba_cuda as cuda
from vgpu.base.errors import LaunchError, Unsupported, VirtualGPUError
from vgpu.compile import cuda_c_to_ptx
from vgpu.hardware.device import device
from vgpu.standins.numba_cuda import int64
from vgpu.storage import memory

RNG = np.random.default_rng(7)
TABLE = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32)
FACTOR = 3


@cuda.jit
def saxpy(x, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit(device=True)
def square(v):
    return v * v


@cuda.jit("float32(float32)", device=True)
def halve(v):
    return v / 2


# --- arguments ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "c8", "c16"])
def test_every_element_type(dtype):
    x = RNG.integers(0, 9, 100).astype(dtype)
    y = RNG.integers(0, 9, 100).astype(dtype)
    there = cuda.to_device(y)
    saxpy[4, 32](cuda.to_device(x), there, x.dtype.type(3))
    np.testing.assert_array_equal(there.copy_to_host(), 3 * x + y)


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 1000])
@pytest.mark.parametrize("block", [1, 32, 50, 256])
def test_any_size_and_block(n, block):
    x, y = (RNG.standard_normal(n).astype(np.float32) for _ in range(2))
    there = cuda.to_device(y)
    saxpy[max(1, -(-n // block)), block](cuda.to_device(x), there, np.float32(2))
    np.testing.assert_array_equal(there.copy_to_host(), np.float32(2) * x + y)


@pytest.mark.parametrize(
    "value",
    [3, -7, 2**40, 2.5, True, np.int8(-3), np.uint8(200), np.int16(-300), np.uint32(4_000_000_000),
     np.uint64(2**63), np.float32(0.1), np.float64(0.1), np.bool_(False), 1e300, -math.inf],
    ids=repr,
)  # fmt: skip
def test_numbers_of_every_kind(value):
    @cuda.jit
    def store(out, v):
        out[0] = v

    out = cuda.device_array(1, np.result_type(value) if isinstance(value, np.generic) else type(value))
    store[1, 1](out, value)
    assert out[0] == value


@pytest.mark.parametrize("value", [1 + 2j, np.complex64(3 - 4j)])
def test_complex_numbers(value):
    @cuda.jit
    def parts(out, z):
        out[0] = z.real
        out[1] = z.imag
        out[2] = abs(z * z)

    out = cuda.device_array(3)
    parts[1, 1](out, value)
    np.testing.assert_allclose(out.copy_to_host(), [value.real, value.imag, abs(value) ** 2], rtol=1e-6)


def test_half_precision():
    @cuda.jit
    def halves(x, y, a):
        i = cuda.grid(1)
        y[i] = x[i] * a + x[i]

    x = np.arange(32, dtype=np.float16) / 8
    y = cuda.device_array(32, np.float16)
    halves[1, 32](cuda.to_device(x), y, np.float16(1.5))
    np.testing.assert_array_equal(y.copy_to_host(), x * np.float16(2.5))


def test_tuples_of_numbers_and_arrays():
    @cuda.jit
    def mix(out, weights, arrays):
        i = cuda.grid(1)
        out[i] = weights[0] * arrays[0][i] + weights[1] * arrays[1][i]

    a, b = (RNG.standard_normal(32) for _ in range(2))
    out = cuda.device_array(32)
    mix[1, 32](out, (2, 0.5), (cuda.to_device(a), cuda.to_device(b)))
    np.testing.assert_array_equal(out.copy_to_host(), 2 * a + 0.5 * b)


def test_structured_elements():
    @cuda.jit
    def move(particles, dt):
        i = cuda.grid(1)
        particles[i].x += dt * particles[i].v
        particles[i].hits += 1

    host = np.zeros(40, dtype=[("x", "f4"), ("v", "f4"), ("hits", "i4")])
    host["v"] = np.arange(40)
    there = cuda.to_device(host)
    move[1, 40](there, np.float32(0.5))
    back = there.copy_to_host()
    np.testing.assert_array_equal(back["x"], 0.5 * np.arange(40))
    assert (back["hits"] == 1).all()


def test_one_structured_element_goes_both_ways():
    @cuda.jit
    def touch(record):
        record.b += 5

    host = np.zeros(2, dtype=[("a", "f4"), ("b", "i4")])
    touch[1, 1](host[1])
    there = cuda.to_device(host)
    touch[1, 1](there[0])
    assert host["b"].tolist() == [0, 5] and there.copy_to_host()["b"].tolist() == [5, 5]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("part", [np.s_[:], np.s_[::2, 1:], np.s_[3:4], np.s_[:, ::-1]], ids=str)
def test_layouts(order, part):
    @cuda.jit
    def number(a):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            a[i, j] = 100 * i + j

    host = np.zeros((8, 12), np.int32, order=order)
    there = cuda.to_device(host)
    number[(2, 2), (8, 8)](there[part])
    rows, columns = np.indices(host[part].shape)
    host[part] = 100 * rows + columns
    np.testing.assert_array_equal(there.copy_to_host(), host)


def test_indices_and_dimensions():
    @cuda.jit
    def where(out):
        x, y, z = cuda.grid(3)
        sx, sy, _ = cuda.gridsize(3)
        n = (z * sy + y) * sx + x
        out[n, 0] = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
        out[n, 1] = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
        out[n, 2] = cuda.blockDim.x + 10 * cuda.blockDim.y + 100 * cuda.blockDim.z
        out[n, 3] = cuda.gridDim.x + 10 * cuda.gridDim.y + 100 * cuda.gridDim.z
        out[n, 4] = cuda.laneid
        out[n, 5] = cuda.warpsize

    out = cuda.device_array((4 * 6 * 3, 6), np.int32)
    where[(2, 2, 3), (2, 3, 1)](out)
    z, y, x = (axis.ravel() for axis in np.indices((3, 6, 4)))
    expected = np.stack(
        [x % 2 + 10 * (y % 3), x // 2 + 10 * (y // 3) + 100 * z, 0 * x + 132, 0 * x + 322,
         x % 2 + 2 * (y % 3), 0 * x + 32], axis=1)  # fmt: skip
    np.testing.assert_array_equal(out.copy_to_host(), expected)


def test_host_arrays_are_copied_both_ways_with_a_warning():
    x, y = np.ones(40, np.float32), np.ones(40, np.float32)
    with pytest.warns(cuda_warning(), match="copy overhead") as caught:
        saxpy[2, 32](x, y, np.float32(2))
    assert caught[0].filename == __file__
    assert (y == 3).all() and (x == 1).all()


def cuda_warning():
    from vgpu.compile.numba_adapter import PerformanceWarning

    return PerformanceWarning


def test_hints_say_which_way_a_host_array_goes():
    @cuda.jit
    def bump(given, made):
        i = cuda.grid(1)
        given[i] += 1
        made[i] = given[i]

    given, made = np.zeros(4, np.float32), np.full(4, -1, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bump[1, 4](cuda.In(given), cuda.Out(made))
    assert (given == 0).all() and (made == 1).all()


def test_read_only_host_arrays_are_not_written_back():
    x = np.broadcast_to(np.float32(2), 8).copy()
    x.flags.writeable = False
    out = cuda.to_device(np.zeros(8, np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        saxpy[1, 8](x, out, np.float32(1))
    assert (out.copy_to_host() == 2).all()


def test_arrays_of_other_libraries():
    class Foreign:
        def __init__(self, array):
            self.array = array
            self.__cuda_array_interface__ = dict(
                shape=array.shape, typestr=array.dtype.str, data=(array.ctypes.data, False), strides=None, version=3
            )

    data = memory.array(64, np.float32)
    data[:] = 1
    saxpy[2, 32](Foreign(data), Foreign(data), np.float32(4))
    assert (data == 5).all()


def test_mapped_arrays_need_no_copy():
    x = cuda.mapped_array(32, np.float32)
    x[:] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        saxpy[1, 32](x, x, np.float32(1))
    assert (x == 4).all()


# --- names a kernel uses ------------------------------------------------------------------------------------


def test_device_functions_closures_and_globals():
    offset = 10

    @cuda.jit(device=True)
    def shifted(v):
        return square(v) + offset

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        x[i] = shifted(x[i]) * FACTOR

    x = cuda.to_device(np.arange(8, dtype=np.float64))
    kernel[1, 8](x)
    np.testing.assert_array_equal(x.copy_to_host(), (np.arange(8) ** 2 + 10) * 3)


def test_a_device_function_with_a_signature_converts():
    @cuda.jit
    def kernel(x):
        x[0] = halve(x[0])

    x = cuda.to_device(np.array([1 / 3]))
    kernel[1, 1](x)
    assert x[0] == np.float32(np.float32(1 / 3) / 2)


def test_a_kernel_may_serve_as_a_device_function():
    @cuda.jit
    def inner(x, i):
        x[i] += 1

    @cuda.jit
    def outer(x):
        inner(x, cuda.grid(1))

    x = cuda.to_device(np.zeros(4))
    outer[1, 4](x)
    assert x.copy_to_host().tolist() == [1, 1, 1, 1]


def test_the_package_may_stand_before_the_name(monkeypatch):
    import vgpu

    monkeypatch.setattr(vgpu, "cuda", cuda, raising=False)

    @cuda.jit
    def kernel(x):
        x[vgpu.cuda.grid(1)] = 1

    x = cuda.to_device(np.zeros(3))
    kernel[1, 3](x)
    assert x.copy_to_host().tolist() == [1, 1, 1]


def test_globals_are_looked_up_at_the_first_launch_of_each_type():
    global later

    @cuda.jit
    def kernel(x):
        x[0] = later

    later = 5
    x = cuda.to_device(np.zeros(1))
    kernel[1, 1](x)
    later = 6
    kernel[1, 1](x)
    assert x[0] == 5


def test_constant_arrays():
    @cuda.jit
    def kernel(x, where):
        table = cuda.const.array_like(TABLE)
        i = cuda.grid(1)
        x[i] = table[where[i]] + TABLE[i]

    where = RNG.permutation(8)
    x = cuda.device_array(8, np.float32)
    kernel[1, 8](x, cuda.to_device(where))
    np.testing.assert_array_equal(x.copy_to_host(), TABLE[where] + TABLE)


# --- cooperation --------------------------------------------------------------------------------------------


def test_atomics_that_return_the_old_value():
    @cuda.jit
    def take(counter, seen, first):
        i = cuda.grid(1)
        seen[cuda.atomic.add(counter, 0, 1)] = i
        cuda.atomic.cas(first, 0, -1, i)
        cuda.atomic.exch(first, 1, i)
        cuda.atomic.inc(counter, 1, 9)

    counter, seen = cuda.to_device(np.zeros(2, np.uint32)), cuda.device_array(70, np.int64)
    first = cuda.to_device(np.array([-1, -1]))
    take[2, 35](counter, seen, first)
    assert sorted(seen) == list(range(70))
    assert 0 <= first[0] < 70 and 0 <= first[1] < 70
    assert counter.copy_to_host().tolist() == [70, 70 % 10]


def test_printing(capfd):
    @cuda.jit
    def hello(x):
        i = cuda.grid(1)
        if i == 2:
            print("thread", i, "has", x[i])

    hello[1, 32](cuda.to_device(np.array([0.5, 1.5, 2.5, 3.5] * 8)))
    assert "thread 2 has 2.5" in capfd.readouterr().out


def test_random_numbers():
    create_xoroshiro128p_states = cuda.random.create_xoroshiro128p_states
    xoroshiro128p_uniform_float32 = cuda.random.xoroshiro128p_uniform_float32

    @cuda.jit
    def pi(states, inside, draws):
        i = cuda.grid(1)
        n = 0
        for _ in range(draws):
            x = xoroshiro128p_uniform_float32(states, i)
            y = xoroshiro128p_uniform_float32(states, i)
            if x * x + y * y <= 1:
                n += 1
        inside[i] = n

    states, inside = create_xoroshiro128p_states(128, seed=1), cuda.device_array(128, np.int64)
    pi[4, 32](states, inside, 100)
    assert 4 * inside.copy_to_host().sum() / 12800 == pytest.approx(math.pi, abs=0.05)


# --- launching ----------------------------------------------------------------------------------------------


def test_for_all():
    x, y = cuda.to_device(np.ones(1000, np.float32)), cuda.to_device(np.zeros(1000, np.float32))
    saxpy.forall(1000)(x, y, np.float32(3))
    saxpy.forall(1000, tpb=64)(x, y, np.float32(3))
    saxpy.forall(0)(x, y, np.float32(3))
    assert (y.copy_to_host() == 6).all()
    with pytest.raises(ValueError, match="negative task count"):
        saxpy.forall(-1)


def test_streams_and_configurations_in_every_form():
    x, y = cuda.to_device(np.ones(64, np.float32)), cuda.to_device(np.zeros(64, np.float32))
    stream = cuda.stream()
    a = np.float32(1)
    saxpy[2, 32](x, y, a)
    saxpy[(2,), (32,)](x, y, a)
    saxpy[(2, 1), (32, 1, 1), stream](x, y, a)
    saxpy[np.int64(2), np.int32(32), stream, 0](x, y, a)
    configured = saxpy[2, 32, 0, 128]
    configured(x, y, a)
    configured(x, y, a)
    stream.synchronize()
    assert (y.copy_to_host() == 6).all()


def test_signatures_convert_numbers():
    kernel = cuda.jit("void(float32[:], float32[:], float32)")(saxpy.py_func)
    x, y = cuda.to_device(np.ones(64, np.float32)), cuda.to_device(np.zeros(64, np.float32))
    kernel[2, 32](x, y, 3)
    kernel[1, 32](x[::2], y[::2], 1.5)
    np.testing.assert_array_equal(y.copy_to_host(), np.where(np.arange(64) % 2, 3, 4.5))


def test_the_first_of_several_signatures_that_fits():
    kernel = cuda.jit(["void(int32[:], int32[:], int32)", "void(float64[:], float64[:], float64)"])(saxpy.py_func)
    for dtype in (np.int32, np.float64):
        y = cuda.to_device(np.zeros(4, dtype))
        kernel[1, 4](cuda.to_device(np.ones(4, dtype)), y, 2)
        assert y.copy_to_host().tolist() == [2] * 4
    with pytest.raises(TypeError, match="compiled for other types"):
        kernel[1, 4](cuda.to_device(np.ones(4, np.int8)), y, 2)


def test_a_specialised_kernel():
    x, y = cuda.to_device(np.ones(4, np.float32)), cuda.to_device(np.zeros(4, np.float32))
    special = saxpy.specialize(x, y, np.float32(1))
    assert special is saxpy.specialize(x, y, np.float32(2)) and special.specialized
    special[1, 4](x, y, np.float32(2))
    assert y.copy_to_host().tolist() == [2] * 4


def test_launching_again_does_not_compile_again():
    kernel = cuda.jit(saxpy.py_func)
    x = cuda.to_device(np.ones(4, np.float32))
    for _ in range(3):
        kernel[1, 4](x, x, np.float32(1))
    assert len(kernel.overloads) == 1
    kernel[1, 4](x, x, 1)
    assert len(kernel.overloads) == 2
    assert kernel.signatures[1][2] == int64


def test_preparing_is_everything_but_the_launch():
    x = np.ones(4, np.float32)
    y = cuda.to_device(np.zeros(4, np.float32))
    with pytest.warns(cuda_warning()):
        prepared = saxpy.prepare((x, y, np.float32(1)), 1, 4)
    assert prepared.kernel.name == "saxpy" and prepared.kernel.language == "numba"
    assert [len(param) for param in prepared.params] == [8] * 14 + [4]
    assert [len(param) for param in prepared.params] == [p.nbytes for p in prepared.kernel.parameters]
    assert [(info.name, info.shape, info.dtype) for info in prepared.arrays] == [
        ("x", (4,), "float32"),
        ("y", (4,), "float32"),
    ]
    assert prepared.arrays[1].address == y.device_ctypes_pointer.value
    address = prepared.arrays[0].address
    assert not memory.describe(address).freed
    assert prepared.kernel.line_text(saxpy.py_func.__code__.co_firstlineno + 4).strip() == "y[i] = a * x[i] + y[i]"
    prepared.finish()
    assert x.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("name", ["T4", "A100", "H100"])
def test_other_modelled_gpus(name):
    device(name)
    try:
        x, y = cuda.to_device(np.ones(64, np.float32)), cuda.to_device(np.zeros(64, np.float32))
        saxpy[2, 32](x, y, np.float32(2))
        assert (y.copy_to_host() == 2).all()
    finally:
        device.reset()


@pytest.mark.parametrize("grid, block", [(1, 2048), (1, (1, 1, 65)), ((1, 70000), 1), (0, 32), (1, 0)])
def test_configurations_that_no_gpu_can_run(grid, block):
    x = cuda.to_device(np.ones(4, np.float32))
    with pytest.raises(LaunchError):
        saxpy[grid, block](x, x, np.float32(1))


def test_out_of_bounds_names_the_array_and_the_line():
    from vgpu.base.errors import OutOfBounds

    @cuda.jit
    def careless(x):
        x[cuda.grid(1)] = 1

    x = cuda.device_array(40, np.float32)
    with pytest.raises(OutOfBounds, match="x") as raised:
        careless[2, 32](x)
    assert raised.value.line == careless.py_func.__code__.co_firstlineno + 2
    assert "x[cuda.grid(1)] = 1" in str(raised.value)


def test_out_of_bounds_in_a_device_function_shows_that_functions_line():
    from vgpu.base.errors import OutOfBounds

    @cuda.jit(device=True)
    def beyond(x, i):
        return x[i + 100]

    @cuda.jit
    def careless(x):
        x[0] = beyond(x, cuda.grid(1))

    with pytest.raises(OutOfBounds) as raised:
        careless[1, 1](cuda.device_array(40, np.float32))
    assert raised.value.line == beyond.py_func.__code__.co_firstlineno + 2
    assert "return x[i + 100]" in str(raised.value)


def test_arrays_of_the_cupy_stand_in_are_used_in_place():
    import vgpu.standins.cupy as cp

    x, y = cp.ones((8, 12), dtype=np.float32), cp.zeros((8, 12), dtype=np.float32)

    @cuda.jit
    def add(x, y):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            y[i, j] += x[i, j]

    add[(1, 1), (8, 16)](x, y)
    add[(1, 1), (8, 16)](x[::2, 3:], y[::2, 3:])
    expected = np.ones((8, 12), np.float32)
    expected[::2, 3:] = 2
    np.testing.assert_array_equal(cp.asnumpy(y), expected)


# --- what Numba's own modules launch --------------------------------------------------------------------------


@pytest.fixture
def adopted():
    """What `from vgpu import cuda` does where there is no GPU."""
    cuda.activate()


def test_random_states_are_numbas_and_lie_on_the_device(adopted):
    from numba.cuda import random

    assert cuda.random is random
    states = random.create_xoroshiro128p_states(3, seed=7, subsequence_start=2)
    expected = np.empty(3, random.xoroshiro128p_dtype)
    random.init_xoroshiro128p_states_cpu(expected, 7, 2)
    assert isinstance(states, cuda.cudadrv.devicearray.DeviceNDArray)
    assert (states.copy_to_host() == expected).all()


def test_ufuncs_run_on_the_virtual_gpu(adopted):
    @numba.vectorize(["float64(float64, float64)", "int64(int64, int64)"], target="cuda")
    def weigh(a, b):
        return 2 * square(a) - b

    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(weigh(x, x[:1]), 2 * x * x - x[:1])
    there = weigh(cuda.to_device(x), 3.0)
    assert isinstance(there, cuda.cudadrv.devicearray.DeviceNDArray)
    np.testing.assert_array_equal(there.copy_to_host(), 2 * x * x - 3)
    assert weigh(np.arange(4), np.ones(4, int)).dtype == np.int64
    out = cuda.device_array(4)
    weigh(cuda.to_device(x[0]), cuda.to_device(x[1]), out=out)
    np.testing.assert_array_equal(out.copy_to_host(), 2 * x[0] ** 2 - x[1])
    with pytest.raises(TypeError, match="No matching version"):
        weigh(x.astype(np.float32), 1.0)


def test_generalised_ufuncs_run_on_the_virtual_gpu(adopted):
    @numba.guvectorize(["void(float32[:], float32, float32[:])"], "(n),()->(n)", target="cuda")
    def running(x, start, out):
        for i in range(x.size):
            start += x[i]
            out[i] = start

    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    starts = np.arange(4, dtype=np.float32)
    expected = np.cumsum(x, axis=1) + starts[:, None]
    np.testing.assert_array_equal(running(x, starts), expected)
    np.testing.assert_array_equal(running(cuda.to_device(x), np.float32(1)).copy_to_host(), np.cumsum(x, axis=1) + 1)


@pytest.mark.parametrize("n", [1, 127, 128, 1000])
def test_reductions_run_on_the_virtual_gpu(n):
    @cuda.reduce
    def largest(a, b):
        return max(a, b)

    x = np.random.default_rng(n).permutation(n)
    assert largest(x) == largest(cuda.to_device(x)) == n - 1
    assert largest(x, init=2 * n) == 2 * n and largest(x, size=1) == x[0]
    kept = cuda.device_array(1, x.dtype)
    assert largest(x, res=kept) is None and kept[0] == n - 1


# --- functions from elsewhere ---------------------------------------------------------------------------------

TRIPLE = """extern "C" __device__ int triple(int *result, int x) { *result = 3 * x; return 0; }"""


@pytest.mark.parametrize("where", ["source", "file", "ptx", "option"])
def test_functions_in_cuda_c_are_linked_in(where, tmp_path):
    path = tmp_path / "triple.cu"
    path.write_text(TRIPLE)
    ptx = cuda_c_to_ptx(TRIPLE, options=("--relocatable-device-code=true",), arch="compute_75").ptx
    codes = {"source": cuda.CUSource(TRIPLE), "file": str(path), "ptx": cuda.PTXSource(ptx), "option": None}
    triple = cuda.declare_device("triple", "int32(int32)", link=codes[where])

    @cuda.jit(link=[path] if where == "option" else [])
    def kernel(x):
        i = cuda.grid(1)
        x[i] = triple(x[i]) + 1

    x = cuda.to_device(np.arange(32, dtype=np.int32))
    kernel[1, 32](x)
    np.testing.assert_array_equal(x.copy_to_host(), 3 * np.arange(32) + 1)


def test_code_without_source_cannot_be_linked():
    triple = cuda.declare_device("triple", "int32(int32)", link=cuda.Cubin(b"\x7fELF", name="fast"))

    @cuda.jit
    def kernel(x):
        x[0] = triple(x[0])

    with pytest.raises(Unsupported, match=r"`fast` is a cubin: link the source of its functions \(a .cu file\)"):
        kernel[1, 1](cuda.device_array(1, np.int32))


def test_extensions_change_arguments_before_a_launch():
    class Doubled:
        def prepare_args(self, kind, value, stream, retr):
            retr.append(lambda: seen.append("after"))
            return kind, 2 * value if isinstance(value, int) else value

    class Next:
        def prepare_args(self, kind, value, stream, retr):
            return kind, value + 1 if isinstance(value, int) else value

    seen = []

    @cuda.jit(extensions=[Doubled(), Next()])
    def store(x, n):
        x[0] = n

    x = cuda.device_array(1, np.int64)
    store[1, 1](x, 4)
    assert x[0] == 10 and seen == ["after", "after"] and len(store.extensions) == 2


@pytest.mark.parametrize("signature", [None, "int64(int64)"])
def test_device_functions_may_call_themselves(signature):
    @cuda.jit(signature, device=True)
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        x[i] = fib(x[i])

    x = cuda.to_device(np.arange(10))
    kernel[1, 10](x)
    assert x.copy_to_host().tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


def this_grid(x):
    x[0] = cuda.cg.this_grid().sync()


def test_a_kernel_may_be_called_like_something_it_uses(monkeypatch):
    monkeypatch.setitem(globals(), "this_grid", cuda.jit(this_grid))
    x = cuda.device_array(1, np.int32)
    this_grid[1, 1](x)
    assert next(iter(this_grid.overloads.values())).cooperative


def test_functions_that_numba_finds_by_itself_see_the_real_cuda():
    def first_thread():
        raise NotImplementedError

    @overload(first_thread)
    def _():
        def on_the_device():
            found = cuda.local.array(2, cuda.int32)
            found[1] = cuda.threadIdx.x
            return found[1] + 40

        return on_the_device

    @cuda.jit
    def kernel(x):
        x[cuda.grid(1)] = first_thread()

    x = cuda.device_array(3, np.int32)
    kernel[1, 3](x)
    assert x.copy_to_host().tolist() == [40, 41, 42]


class Corner(enum.Enum):
    low = (1.0, 2.0)
    high = (3.0, 4.5)


def test_enumerations_of_tuples_and_arrays_of_text_are_arguments():
    @cuda.jit
    def kernel(corner, names, x):
        x[0] = corner == Corner.high
        names[0] = "new"

    names, x = np.array(["old", "same"]), np.zeros(1, bool)
    kernel[1, 1](Corner.high, cuda.InOut(names), cuda.InOut(x))
    assert names.tolist() == ["new", "same"] and x[0]


def test_of_several_signatures_the_nearest_is_taken():
    kernel = cuda.jit(["(float64[::1], float32, float32)", "(float64[::1], float64, float64)"])(store_sum)
    x = cuda.device_array(1)
    kernel[1, 1](x, 1, 2**-30)  # an int and a float: both signatures fit
    assert x[0] == 1 + 2**-30
    undecided = cuda.jit(["(float64[::1], float32, float64)", "(float64[::1], float64, float32)"])(store_sum)
    with pytest.raises(TypeError, match="several signatures fit"):
        undecided[1, 1](x, 1.0, 2.0)


def store_sum(x, a, b):
    x[0] = a + b


def test_callbacks_before_a_launch_see_the_compiled_kernel():
    seen = []
    configured = cuda.jit(store_sum)[2, 32]
    configured.pre_launch_callbacks.append(lambda kernel, launch: seen.append((kernel.argument_types, launch.griddim)))
    configured(cuda.device_array(1), 3, 4)
    assert seen == [((cuda.float64[::1], cuda.int64, cuda.int64), (2, 1, 1))]


# --- from programs ------------------------------------------------------------------------------------------------


class Box(NamedTuple):
    low: float
    high: float
    steps: int


@pytest.mark.filterwarnings("ignore:.*Host array used in CUDA kernel")
def test_named_tuples_flags_and_none():
    @cuda.jit
    def kernel(x, box, extra, flag, out):
        i = cuda.grid(1)
        if i < x.size:
            v = min(max(x[i], box.low), box.high) * box.steps
            if flag:
                v += extra[0] + extra[1][0]
            out[i] = v

    x, out = RNG.normal(size=50), np.zeros(50)
    for flag in (True, np.bool_(False)):
        kernel[1, 64](x, Box(-0.5, 0.5, 3), (1, (2.5,)), flag, out)
        np.testing.assert_allclose(out, np.clip(x, -0.5, 0.5) * 3 + 3.5 * flag)
    with pytest.raises(VirtualGPUError, match=r"`extra` is a NoneType.*flag"):
        kernel[1, 64](x, Box(-0.5, 0.5, 3), None, True, out)


@pytest.mark.filterwarnings("ignore:.*Host array used in CUDA kernel")
def test_explicit_signatures_and_strides():
    @cuda.jit("void(float32[:, ::1], float32[::1, :], int32)")
    def kernel(c, f, n):
        i, j = cuda.grid(2)
        if i < c.shape[0] and j < c.shape[1]:
            f[i, j] = c[i, j] + n

    a = RNG.normal(size=(9, 14)).astype(np.float32)
    out = np.zeros((9, 14), np.float32, order="F")
    kernel[(2, 2), (8, 8)](a, out, 3)
    np.testing.assert_array_equal(out, a + np.float32(3))


def test_a_pointer_in_a_signature_takes_an_address():
    @cuda.jit("void(CPointer(float64), uint32)")
    def double(x, n):
        i = cuda.grid(1)
        if i < n:
            x[i] *= 2.0

    x = cuda.to_device(np.arange(40.0))
    double[2, 32](x.__cuda_array_interface__["data"][0], 40)
    np.testing.assert_array_equal(x.copy_to_host(), 2 * np.arange(40.0))


def test_how_many_blocks_can_wait_for_one_another():
    """A whole number a multiprocessor, fewer for larger blocks, and as many as a cooperative launch takes."""

    @cuda.jit("void(int32[::1])")
    def count(x):
        cuda.cg.this_grid().sync()
        cuda.atomic.add(x, 0, 1)

    (overload,) = count.overloads.values()
    most = overload.max_cooperative_grid_blocks((256, 2))
    assert most == overload.max_cooperative_grid_blocks(512) < overload.max_cooperative_grid_blocks(64)
    assert overload.max_cooperative_grid_blocks(512, 100_000) < most
    x = cuda.to_device(np.zeros(1, np.int32))
    count[3, 64](x)
    assert x.copy_to_host()[0] == 192
    # Refused before anything runs.
    with pytest.raises(LaunchError, match="cooperative"):
        count[most + 1, 512](x)


@pytest.mark.parametrize("value", [0, -1, 1 << 31, (1 << 63) - 1, -(1 << 63), 1 << 63, (1 << 64) - 1, True, 1.5, 2j])
def test_numbers_have_the_types_that_numba_gives_them(value):
    from vgpu.compile.numba_adapter import typeof
    from vgpu.standins.numba.args import _SIMPLE, type_of

    assert type_of(value, "x", "k") is typeof(value)
    for kind in _SIMPLE - {bool, int, float, complex}:
        assert type_of(kind(1), "x", "k") is typeof(kind(1))
