"""The stand-in for `numba.cuda`, on the host's side: names, arrays, devices, streams, and what it refuses."""

import gc
import operator
import warnings

import numpy as np
import pytest

import vgpu.standins.numba_cuda as cuda
from vgpu import gpus
from vgpu.base.errors import CompileError, LaunchError, Unsupported
from vgpu.hardware.device import device
from vgpu.storage import memory


@cuda.jit
def scale(x, a):
    """Multiply in place."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= a


@cuda.jit(device=True)
def twice(v):
    return v + v


@pytest.fixture
def modelled():
    """Choose a modelled GPU for one test."""
    yield device
    device.reset()


# --- names --------------------------------------------------------------------------------------------------


TYPES = ["float32", "int64", "uint8", "complex128", "boolean", "void", "float4", "int32x2"]


@pytest.mark.parametrize("name", [*sorted(cuda.KERNEL_SIDE), *TYPES])
def test_names_for_kernels_and_types_are_numbas_own(name):
    import numba.cuda

    assert getattr(cuda, name) is getattr(numba.cuda, name)


def test_every_listed_name_is_there():
    assert all(getattr(cuda, name) is not None for name in dir(cuda))
    assert {"jit", "to_device", "shared", "atomic", "event", "grid"} <= set(dir(cuda))


@pytest.mark.parametrize("call", [lambda: cuda.grid(1), lambda: cuda.syncthreads(), lambda: cuda.shared.array(3, "f4")])
def test_kernel_functions_refuse_to_run_on_the_host(call):
    with pytest.raises(NotImplementedError):
        call()


@pytest.mark.parametrize(
    "name, words",
    [
        ("sycnthreads", "Did you mean cuda.syncthreads"),
        ("zzz_nothing", "numba.cuda has no zzz_nothing"),
        ("driver", "though numba.cuda has"),
        ("cudadrv.driver", "no cuda.cudadrv.driver: it belongs to a real GPU's driver"),
        ("open_ipc_array", "between threads of one process"),
    ],
)
def test_a_missing_name_says_so_and_what_to_use(name, words):
    with pytest.raises(AttributeError, match=words) as raised:
        operator.attrgetter(name)(cuda)
    assert isinstance(raised.value, Unsupported)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: scale.inspect_sass(), "get_regs_per_thread"),
        (lambda: twice.inspect_sass(), "inspect_asm"),
        (lambda: cuda.device_array(3).get_ipc_handle(), "copy_to_host"),
        (lambda: cuda.cudadrv.devicearray.DeviceNDArray(3, 8, np.float64, gpu_data=4096), "from_cuda_array_interface"),
    ],
)
def test_what_is_refused_names_an_alternative(call, words):
    with pytest.raises(Unsupported, match=words):
        call()


def test_importing_the_stand_in_does_not_import_numba():
    import subprocess
    import sys

    code = "import sys, vgpu.standins.numba_cuda; print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_where_there_is_no_gpu_numbas_own_modules_launch_here_whenever_they_are_imported():
    import subprocess
    import sys

    late = "from vgpu import cuda; from numba.cuda import random, vectorizers"
    early = "from numba.cuda import random, vectorizers; from vgpu import cuda; cuda.jit"
    for order in (late, early):
        told = "print(random.cuda is cuda, vectorizers.cuda is cuda)"
        code = f"import os; os.environ['VGPU_BACKEND'] = 'virtual'; {order}; {told}"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert ran.stdout.strip() == "True True", ran.stderr


# --- arrays -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u1", "i2", "u4", "i8", "c8", "c16", "?"])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 5), (2, 3, 4)])
def test_there_and_back(dtype, shape):
    host = (np.arange(np.prod(shape)) % 2).astype(dtype).reshape(shape)
    there = cuda.to_device(host)
    assert (there.shape, there.dtype) == (host.shape, host.dtype)
    assert there.strides == host.strides or host.size == 0
    assert (there.size, there.ndim, there.nbytes) == (host.size, host.ndim, host.nbytes)
    back = there.copy_to_host()
    np.testing.assert_array_equal(back, host)
    assert back.ctypes.data != there.device_ctypes_pointer.value


def test_a_copy_is_a_copy():
    host = np.zeros(4, np.float32)
    there = cuda.to_device(host)
    host[:] = 1
    assert there.copy_to_host().tolist() == [0, 0, 0, 0]
    assert cuda.to_device(there) is there
    into = np.ones(4, np.float32)
    assert there.copy_to_host(into) is into and into.sum() == 0


def test_to_device_takes_what_numpy_takes():
    assert cuda.to_device([1.5, 2.5]).copy_to_host().tolist() == [1.5, 2.5]
    assert cuda.to_device(3).shape == ()
    target = cuda.device_array(3, np.int32)
    assert cuda.to_device(np.array([1, 2, 3], np.int32), to=target) is target
    assert target.copy_to_host().tolist() == [1, 2, 3]
    assert np.isnan(cuda.to_device(np.zeros(2), copy=False).copy_to_host()).all()


def test_fresh_arrays_hold_poison_and_are_aligned():
    fresh = cuda.device_array((2, 3))
    assert fresh.dtype == np.float64 and np.isnan(fresh.copy_to_host()).all()
    assert cuda.device_array(5, np.int32).copy_to_host().tolist() == [-1] * 5
    assert fresh.device_ctypes_pointer.value % 256 == 0


@pytest.mark.parametrize("order", ["C", "F"])
def test_like_keeps_shape_dtype_and_order(order):
    host = np.zeros((3, 4), np.int16, order=order)
    for make in (cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like, cuda.to_device):
        like = make(host)
        assert (like.shape, like.dtype, like.strides) == (host.shape, host.dtype, host.strides)


def test_views_share_memory_and_elements_do_not():
    there = cuda.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
    assert there[1, 2] == 6 and isinstance(there[1, 2], np.float32)
    assert there[1].copy_to_host().tolist() == [4, 5, 6, 7]
    assert there[:, 1].strides == (16,) and there[:, 1].copy_to_host().tolist() == [1, 5, 9]
    assert there[-1, ::2].copy_to_host().tolist() == [8, 10]
    there[1] = 0
    there[0, 1:3] = np.array([50, 60], np.float32)
    there[2, 3] = 7
    there[2, :2] = cuda.to_device(np.array([8, 9], np.float32))
    assert there.copy_to_host().tolist() == [[0, 50, 60, 3], [0, 0, 0, 0], [8, 9, 10, 7]]
    assert there[0].device_ctypes_pointer.value == there.device_ctypes_pointer.value


def test_shapes_change_without_a_copy():
    there = cuda.to_device(np.arange(12, dtype=np.int32))
    table = there.reshape(3, 4)
    assert table.reshape((2, -1)).shape == (2, 6) and table.ravel().shape == (12,)
    table[0, 0] = 99
    assert there[0] == 99
    assert there.view(np.int8).shape == (48,)
    assert table.reshape(1, 12).squeeze().shape == (12,)
    assert [piece.size for piece in there.split(5)] == [5, 5, 2]
    with pytest.raises(NotImplementedError):
        table[:, 1:].ravel()


def test_transposing_copies():
    there = cuda.to_device(np.arange(6, dtype=np.int32).reshape(2, 3))
    turned = there.T
    assert turned.copy_to_host().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert turned.is_c_contiguous() and turned.device_ctypes_pointer.value != there.device_ctypes_pointer.value


def test_iteration_and_length():
    there = cuda.to_device(np.array([3, 1, 2]))
    assert len(there) == 3 and list(there) == [3, 1, 2] and sorted(there) == [1, 2, 3]
    with pytest.raises(IndexError):
        there[3]


def test_the_host_cannot_compute_with_device_arrays():
    there = cuda.to_device(np.ones(3))
    with pytest.raises(TypeError):
        there + 1
    assert np.asarray(there).tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="without a copy"):
        np.array(there, copy=False)


@pytest.mark.parametrize("index", [[0, 1], np.array([True, False, True])])
def test_gathering_is_refused(index):
    with pytest.raises(Unsupported, match="integers and slices"):
        cuda.to_device(np.arange(3))[index]


@pytest.mark.parametrize(
    "into, error, words",
    [
        (np.zeros(4, np.float64), TypeError, "incompatible dtype: float32"),
        (np.zeros(5, np.float32), ValueError, "incompatible shape"),
        (np.zeros(8, np.float32)[::2], ValueError, "incompatible strides"),
    ],
)
def test_copies_need_equal_arrays(into, error, words):
    with pytest.raises(error, match=words):
        cuda.to_device(np.zeros(4, np.float32)).copy_to_host(into)


def test_arrays_with_gaps_and_objects_are_refused():
    with pytest.raises(ValueError, match="ascontiguousarray"):
        cuda.to_device(np.zeros((4, 4))[::2, ::2])
    with pytest.raises(TypeError, match="Python objects"):
        cuda.to_device(np.array([object()]))


def test_structured_arrays():
    host = np.zeros(3, dtype=[("a", "f4"), ("b", "i4")])
    host["b"] = [1, 2, 3]
    there = cuda.to_device(host)
    assert there[1]["b"] == 2
    there[2]["a"] = 1.5
    assert there.copy_to_host()[2].tolist() == (1.5, 3)
    assert there[1].copy_to_host().tolist() == (0.0, 2)


def test_memory_goes_back_with_the_last_reference():
    gc.collect()
    before = memory.usage()
    there = cuda.device_array(1000, np.float32)
    part = there[10:20]
    assert memory.usage()[1] == before[1] + 1
    del there
    assert memory.usage()[1] == before[1] + 1
    del part
    assert memory.usage() == before


class Foreign:
    """A device array of another library."""

    def __init__(self, array, strides=None):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "strides": strides,
            "data": (array.ctypes.data, False),
            "version": 3,
        }


def test_other_libraries_arrays_are_used_as_they_lie():
    data = memory.array((2, 3), np.float32)
    data[...] = 1
    there = cuda.as_cuda_array(Foreign(data))
    there[0, 0] = 5
    assert data[0, 0] == 5 and cuda.is_cuda_array(there) and not cuda.is_cuda_array(data)
    assert cuda.to_device(Foreign(data)).device_ctypes_pointer.value == data.ctypes.data
    again = cuda.as_cuda_array(there.T)
    assert again.shape == (3, 2)
    assert there[:, 1].__cuda_array_interface__["strides"] == (12,)
    with pytest.raises(TypeError, match="no CUDA array interface"):
        cuda.as_cuda_array(np.zeros(3))


def test_memory_of_a_real_gpu_or_freed_memory_is_refused():
    with pytest.raises(LaunchError, match="does not lie in the virtual GPU's memory"):
        cuda.as_cuda_array(Foreign(np.zeros(3)))


def test_mapped_and_managed_arrays_are_host_arrays():
    for make in (cuda.mapped_array, cuda.managed_array):
        shared = make((2, 2), np.float32)
        shared[:] = 3
        assert shared.sum() == 12 and cuda.is_cuda_array(shared)
        assert shared.copy_to_host().tolist() == [[3, 3], [3, 3]]
    pinned = cuda.pinned_array(4, np.int32)
    pinned[:] = 1
    assert not cuda.is_cuda_array(pinned) and pinned.sum() == 4


def test_repr_says_what_it_is():
    assert repr(cuda.device_array((2, 3), np.float32)) == "DeviceNDArray(shape=(2, 3), dtype=float32)"
    assert repr(scale) == "<kernel scale(x, a)>" and repr(twice) == "<device function twice>"
    assert repr(scale[3, (4, 5)]) == "<kernel scale with (3, 1, 1) blocks of (4, 5, 1) threads>"
    assert scale.__name__ == "scale" and scale.__doc__ == "Multiply in place."


def test_an_array_like_one_with_gaps_has_its_order_and_no_gaps():
    gaps = cuda.device_array((10, 12), order="F")[::2, ::2]
    for like in (cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like):
        assert like(gaps).strides == (8, 40)
    assert cuda.device_array_like(np.zeros((3, 8, 4))[:, ::2].transpose(1, 0, 2)).strides == (32, 128, 8)


def test_what_numpy_repeats_moves_once():
    row = np.arange(4.0)
    there = cuda.to_device(np.broadcast_to(row, (3, 4)))
    assert there.shape == (3, 4) and there.strides == (0, 8) and there.alloc_size == 32
    np.testing.assert_array_equal(there.copy_to_host(), [row] * 3)
    with pytest.raises(ValueError, match="contiguous"):
        cuda.to_device(np.zeros((4, 4))[:, ::2])


def test_arrays_are_made_as_numba_documents_it():
    DeviceNDArray = cuda.cudadrv.devicearray.DeviceNDArray
    x = cuda.to_device(np.arange(6.0))
    assert isinstance(x, DeviceNDArray) and cuda.cudadrv.devicearray.is_cuda_ndarray(x)
    seen = DeviceNDArray((2, 3), (24, 8), np.float64, gpu_data=x.gpu_data)
    x[4] = 9
    assert seen[1, 1] == 9 and seen.gpu_data.device_pointer == x.device_pointer
    assert DeviceNDArray(3, 8, np.float64).shape == (3,)
    assert cuda.device_array(0).__cuda_array_interface__["data"][0] == 0
    stream = cuda.stream()
    assert cuda.to_device(np.ones(3), stream=stream).__cuda_array_interface__["stream"] == stream.handle
    assert x.__cuda_array_interface__["stream"] is None


# --- devices, streams, events -------------------------------------------------------------------------------


def test_the_device_says_that_it_is_virtual(modelled, capsys):
    modelled("H100")
    gpu = cuda.get_current_device()
    assert "Virtual" in gpu.name and "H100" in gpu.name
    assert gpu.compute_capability == (9, 0) == (gpu.COMPUTE_CAPABILITY_MAJOR, gpu.COMPUTE_CAPABILITY_MINOR)
    assert (gpu.WARP_SIZE, gpu.MAX_THREADS_PER_BLOCK, gpu.MAX_BLOCK_DIM_Z) == (32, 1024, 64)
    assert device.current().sms == gpu.MULTIPROCESSOR_COUNT
    modelled("T4")
    assert gpu.compute_capability == (7, 5) and not gpu.supports_bfloat16
    assert len(cuda.gpus) == 1 and cuda.gpus[0] is gpu and cuda.select_device(0) is gpu
    assert cuda.is_available() and cuda.detect() is True
    assert "modelling" in capsys.readouterr().out
    with pytest.raises(LaunchError, match="one virtual GPU"):
        cuda.select_device(1)
    with pytest.raises(AttributeError, match="does not know NUMBER_OF_WHEELS"):
        _ = gpu.NUMBER_OF_WHEELS


def test_memory_info_counts_what_is_allocated():
    free, total = cuda.current_context().get_memory_info()
    keep = cuda.device_array(1 << 20, np.uint8)
    assert total == device.current().memory_bytes
    assert free - cuda.current_context().get_memory_info().free == keep.nbytes


def test_streams_and_events(monkeypatch):
    from vgpu.standins.numba.host import Event

    ticks = iter([1.0, 1.25])
    monkeypatch.setattr(Event, "clock", staticmethod(lambda: next(ticks)))
    stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    with stream.auto_synchronize():
        start.record(stream)
        there = cuda.to_device(np.ones(3), stream=stream)
        end.record(stream)
    end.synchronize()
    assert end.query() and there.copy_to_host(stream=stream).sum() == 3
    assert start.elapsed_time(end) == cuda.event_elapsed_time(start, end) == 250.0
    called = []
    stream.add_callback(lambda *args: called.append(args), "done")
    assert called == [(stream, 0, "done")]
    with pytest.raises(LaunchError, match=r"before event.record\(\)"):
        cuda.event().elapsed_time(end)


def test_context_managers_and_marks_do_nothing():
    with cuda.defer_cleanup(), cuda.pinned(np.zeros(3)), cuda.profiling(), cuda.gpus[0]:
        cuda.profile_start()
        cuda.profile_stop()
        cuda.synchronize()
    cuda.close()
    assert cuda.default_stream() is cuda.legacy_default_stream()


# --- the decorator ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "signature",
    ["void(float32[::1], float32)", (cuda.float32[::1], cuda.float32), cuda.void(cuda.float32[::1], cuda.float32)],
)
def test_signatures_compile_at_once(signature):
    kernel = cuda.jit(signature)(scale.py_func)
    assert kernel.specialized and kernel.signatures == [(cuda.float32[::1], cuda.float32)]
    assert ".entry" in kernel.inspect_asm(kernel.signatures[0])


def test_what_compilers_made_of_a_kernel_and_of_a_device_function(capsys):
    @cuda.jit
    def kernel(x):
        x[0] = twice(x[0])  # HERE

    assert kernel.inspect_asm() == kernel.inspect_llvm() == {}
    for dtype in (np.float32, np.int32):
        kernel[1, 1](cuda.device_array(1, dtype))
    types = [(cuda.float32[::1],), (cuda.int32[::1],)]
    assert list(kernel.inspect_asm()) == list(kernel.inspect_llvm()) == kernel.signatures == types
    assert ".entry" in kernel.inspect_asm(types[1]) and "define" in kernel.inspect_llvm(types[1])
    assert set(twice.inspect_asm()) >= {(cuda.float32,), (cuda.int32,)}
    assert "twice" in twice.inspect_asm((cuda.float32,)) and "fadd" in twice.inspect_llvm((cuda.float32,))
    kernel.inspect_types()
    assert capsys.readouterr().out.count("x[0] = twice(x[0])  # HERE") == 2
    with pytest.raises(AttributeError, match="Numba's own launches"):
        kernel.mark_launch_config_sensitive()


def test_a_launch_beyond_its_bounds_is_refused():
    bounded = cuda.jit(launch_bounds=64)(scale.py_func)
    x = cuda.to_device(np.ones(128, np.float32))
    bounded[2, 64](x, 2)
    with pytest.raises(LaunchError, match=r"scale was compiled for blocks of at most 64 threads, and .* has 96"):
        bounded[2, 96](x, 2)
    assert set(x.copy_to_host()) == {2}


def test_compiling_without_a_launch():
    ptx, returned = cuda.compile_ptx(scale, "void(float32[::1], float32)")
    assert ".entry" in ptx and ".target sm_80" in ptx and returned == cuda.void
    ptx, returned = cuda.compile(lambda v: twice(v) + 1, "(float64,)", cc=(9, 0))
    assert ".visible .func" in ptx and ".target sm_90" in ptx and returned == cuda.float64
    assert cuda.compile_ptx_for_current_device(twice, "(int32,)", device=True)[1] == cuda.int64
    assert len(cuda.compile_all(twice, "(int32,)", output="ptx")[0]) == 1


def test_several_signatures():
    kernel = cuda.jit(["void(float32[::1], float32)", "void(int32[:], int32)"])(scale.py_func)
    assert len(kernel.overloads) == 2 and not kernel.specialized
    assert set(kernel.get_regs_per_thread()) == set(kernel.overloads)


@pytest.mark.parametrize(
    "signature, words",
    [
        ("void(floot32[:], float32)", "no signature Numba understands"),
        ("void(float32[:])", "has 2 parameters"),
        ("float32(float32[:], float32)", "a kernel returns nothing"),
    ],
)
def test_wrong_signatures(signature, words):
    with pytest.raises(CompileError, match=words):
        cuda.jit(signature)(scale.py_func)


@pytest.mark.parametrize(
    "options",
    [dict(fastmath=True), dict(lineinfo=True), dict(debug=True, opt=False), dict(cache=True), dict(max_registers=32)],
    ids=lambda options: next(iter(options)),
)
def test_options_are_accepted(options):
    assert cuda.jit(**options)(scale.py_func).targetoptions == options


def test_options_that_do_not_exist():
    with pytest.raises(TypeError, match="no option 'fast'"):
        cuda.jit(fast=True)(scale.py_func)
    with pytest.raises(TypeError, match="already jitted"):
        cuda.jit(scale)
    with pytest.raises(TypeError, match="decorates functions"):
        cuda.jit(device=True)(3)


def test_what_a_kernel_needs_of_the_gpu(modelled):
    modelled("A100")

    @cuda.jit("void(float32[::1])")
    def tile(x):
        s = cuda.shared.array((32, 33), cuda.float32)
        i = cuda.threadIdx.x
        s[i, 0] = x[i]
        cuda.syncthreads()
        x[i] = s[31 - i, 0]

    @cuda.jit("void(float32[::1])", launch_bounds=128)
    def bounded(x):
        x[0] = 1

    table = np.arange(10, dtype=np.float32)

    @cuda.jit("void(float32[::1])")
    def look_up(x):
        x[0] = cuda.const.array_like(table)[cuda.threadIdx.x]

    assert tile.get_shared_mem_per_block() == 32 * 33 * 4
    assert 8 <= tile.get_regs_per_thread() <= 32
    assert tile.get_local_mem_per_thread() == 0
    assert tile.get_max_threads_per_block() == 1024 and bounded.get_max_threads_per_block() == 128
    assert (tile.get_const_mem_size(), look_up.get_const_mem_size()) == (0, 40)
    (overload,) = tile.overloads.values()
    assert overload.shared_mem_per_block == 4224 and list(tile.inspect_asm().values()) == [overload.inspect_asm()]


@pytest.mark.parametrize("registers, threads", [(16, 1024), (64, 1024), (65, 896), (96, 640), (128, 512), (255, 256)])
def test_the_biggest_block_that_registers_allow(registers, threads):
    from vgpu.hardware.occupancy import most_threads

    assert most_threads(registers, gpus.find("A100")) == threads


def test_the_best_block_size_fills_the_multiprocessor():
    from vgpu.compile.resources import Resources
    from vgpu.standins.numba.config import best_block

    gpu = gpus.find("A100")
    assert best_block(Resources(32), gpu) == 1024
    assert best_block(Resources(40), gpu) == 768
    assert best_block(Resources(255), gpu) == 256


def test_another_modelled_gpu_compiles_anew(modelled):
    kernel = cuda.jit("void(float32[::1], float32)")(scale.py_func)
    targets = set()
    for name in ("T4", "A100", "H100"):
        modelled(name)
        overload = kernel.compile("void(float32[::1], float32)")
        targets.add(overload.inspect_asm().split(".target ")[1].split()[0])
    assert targets == {"sm_75", "sm_80", "sm_90"}


# --- launches that cannot be --------------------------------------------------------------------------------


def test_calling_without_a_configuration():
    x = cuda.device_array(3)
    with pytest.raises(ValueError, match=r"scale\[blocks, threads_per_block\]"):
        scale(x, 2.0)
    with pytest.raises(ValueError, match="takes blocks and threads per block"):
        scale[3](x, 2.0)
    with pytest.raises(LaunchError, match="only kernels can call it"):
        twice(3)
    with pytest.raises(LaunchError, match="cannot be launched"):
        twice[1, 1](3)
    assert twice.py_func(3) == 6


@pytest.mark.parametrize(
    "grid, block, words",
    [
        (1.5, 32, "`scale.*`: blocks are whole numbers, not 1.5"),
        (1, 32 / 2, "threads per block are whole numbers, not 16.0"),
        ((1, 1, 1, 1), 32, "one, two or three"),
        (1, (), "one, two or three"),
        ("1", 32, "not '1' \\(a str\\)"),
    ],
)
def test_configurations_that_are_no_numbers(grid, block, words):
    with pytest.raises(TypeError, match=words) as raised:
        scale[grid, block]
    assert isinstance(raised.value, LaunchError)


def test_a_wrong_number_of_arguments():
    with pytest.raises(TypeError, match=r"`scale` takes 2 arguments \(x, a\), 1 given"):
        scale[1, 1](cuda.device_array(3))


@pytest.mark.parametrize(
    "value, words",
    [
        ([1, 2], r"argument `x` is a list, .*numpy.array\(x"),
        (None, "a NoneType"),
        ("text", "a str"),
        ({1: 2}, "a dict"),
        (object(), "a object, .*NumPy arrays"),
        (type("Tensor", (), {})(), r"x.numpy\(\)"),
    ],
)
def test_arguments_that_no_kernel_takes(value, words):
    with pytest.raises(TypeError, match=words):
        scale[1, 1](value, 2.0)


@pytest.mark.parametrize(
    "array, words",
    [
        (np.zeros(3), "elements of type float64, the signature says float32"),
        (np.zeros((3, 3), np.float32), "2 dimension"),
        (3.0, "is float64, not an array"),
    ],
)
def test_arguments_that_do_not_fit_the_signature(array, words):
    kernel = cuda.jit("void(float32[::1], float32)")(scale.py_func)
    with pytest.raises(TypeError, match=words):
        kernel[1, 1](cuda.to_device(array) if isinstance(array, np.ndarray) else array, 2.0)
    with pytest.raises(TypeError, match="layout 'A', the signature asks for 'C'"):
        kernel[1, 1](cuda.device_array(8, np.float32)[::2], 2.0)


def test_host_arrays_with_gaps_cannot_be_given():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="ascontiguousarray"):
            scale[1, 1](np.zeros((4, 4), np.float32)[:, 1], 2.0)
