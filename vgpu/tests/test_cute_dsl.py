"""CuTe DSL: its programs run, are counted and checked by their own lines, and get the modelled GPU's architecture."""

from __future__ import annotations

import ctypes
import struct

import numpy as np
import pytest

pytest.importorskip(
    "cutlass.cute", reason="CuTe is optional: python -m pip install -c constraints.txt -e './vgpu[cute]'"
)

from vgpu.base.errors import LaunchError, OutOfBounds, Unsupported
from vgpu.hardware.device import device
from vgpu.operations import CUDARuntimeError
from vgpu.standins import cupy as cp
from vgpu.standins import cute as standin
from vgpu.standins.cute.runtime import Host
from vgpu.standins.cute.tensor_maps import as_ours
from vgpu.storage.tensor_map import BYTES, decode
from vgpu.tools import streams
from vgpu.tools.profile import profile
from vgpu.tools.sanitize import sanitize
from vgpu.tools.steps.trace import trace

cute = standin.activate()

from cutlass.cute import testing  # noqa: E402
from cutlass.cute.runtime import from_dlpack  # noqa: E402

from vgpu.tests import cute_kernels as kernels  # noqa: E402


@pytest.fixture
def hopper():
    device("H100")
    yield
    device.reset()


def small(shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def tensors(*arrays):
    return tuple(from_dlpack(array).mark_layout_dynamic() for array in arrays)


def line_of(text):
    with open(kernels.__file__, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


# ---------------------------------------------------------------- programs


@pytest.mark.parametrize("make", [np.asarray, cp.asarray], ids=["NumPy", "CuPy"])
def test_a_sum_of_arrays(make):
    x, y, z = make(small(1000)), make(small(1000, seed=1)), make(np.zeros(1000, np.float32))
    kernels.sum_of(*tensors(x, y, z), 1000)
    assert (z == x + y).all()


def test_a_sum_of_tensors():
    torch = pytest.importorskip("torch")
    x, y, z = torch.arange(1000).float(), torch.ones(1000), torch.zeros(1000)
    kernels.sum_of(*tensors(x, y, z), 1000)
    assert torch.equal(z, x + y)
    kernels.three_of(x, y, z)  # which has no annotations: tensors go in as they are
    assert torch.equal(z, 3 * x)


def test_a_compiled_function_takes_other_arrays_of_its_layout():
    x, z = small(500), np.zeros(500, np.float32)
    compiled = cute.compile(kernels.sum_of, *tensors(x, x, z), 500)
    for n in (300, 700):
        y, z = small(n, seed=n), np.zeros(n, np.float32)
        compiled(*tensors(y, y, z), n)
        assert (z == 2 * y).all()


def test_the_hosts_code_computes_grids_and_launches_in_order():
    x, y, z = cp.asarray(small(1000)), cp.zeros(1000, cp.float32), cp.zeros(1000, cp.float32)
    with streams.record() as timeline:
        kernels.three_of(*tensors(x, y, z))
    assert (z == 3 * x).all()
    assert [operation.label for operation in timeline.operations] == ["add (8 blocks)"] * 2


def test_shared_memory():
    x = small((64, 96))
    given, y = cp.asarray(x), cp.zeros((96, 64), np.float32)
    kernels.transposed(*tensors(given, y))
    assert (y.get() == x.T).all()


def test_tensor_cores():
    a, b, c = small((16, 16), np.float16), small((8, 16), np.float16, 1), np.zeros((16, 8), np.float32)
    kernels.product(*map(from_dlpack, (a, b, c)))
    assert (c == a.astype(np.float32) @ b.astype(np.float32).T).all()


@pytest.mark.parametrize("shape", [(64, 96), (40, 36)])
def test_copies_by_tensor_maps(hopper, shape):
    x = small(shape)
    given, y = cp.asarray(x), cp.zeros(shape, np.float32)
    kernels.copied(*(from_dlpack(each, assumed_align=16) for each in (given, y)))
    assert (y.get() == x).all()


@pytest.mark.parametrize("blocks", [1, 4, 8])
def test_clusters_of_a_size_that_the_launch_sets(hopper, blocks):
    x = cp.zeros(16, np.int32)
    kernels.ranks(from_dlpack(x), blocks)
    assert (x.get() == np.arange(16) % blocks).all()


def test_a_tensor_map_by_the_drivers_function():
    numbers = lambda kind, *values: (kind * len(values))(*values)
    made = (ctypes.c_uint8 * 128)()
    given = [numbers(ctypes.c_uint64, 96, 64), numbers(ctypes.c_uint64, 192)]
    given += [numbers(ctypes.c_uint32, 64, 8), numbers(ctypes.c_uint32, 1, 1)]
    Host("").cuTensorMapEncodeTiled(ctypes.addressof(made), 6, 2, 4096, *map(ctypes.addressof, given), 0, 3, 0, 0)
    found = decode(as_ours(bytes(made)), 2)
    assert (found.address, found.sizes, found.strides, found.box) == (4096, (96, 64), (2, 192), (64, 8))
    assert (found.swizzle, found.type) == (128, "f16")


def test_the_modelled_gpu_is_compiled_for(hopper):
    x = cp.asarray(small(1000))
    compiled = cute.compile(kernels.sum_of, *tensors(x, x, x), 1000)
    assert ".target sm_90a" in compiled.engine.virtual.ptx
    device("A100")
    compiled = cute.compile(kernels.sum_of, *tensors(x, x, x), 1000)
    assert ".target sm_80" in compiled.engine.virtual.ptx


# ---------------------------------------------------------------- tools


def test_a_profile_by_lines():
    arguments = *tensors(*(cp.asarray(small(1024)) for _ in range(3))), 1024
    counted = profile(kernels.sum_of, None, None, arguments)
    assert counted["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 2 * 1024 // 8
    assert counted["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == 1024 // 8
    assert counted.kernel.name == "add"
    last = counted.lines[-1]
    assert (last.number, last.source.strip()) == (line_of("c[i] = a[i] + b[i]"), "c[i] = a[i] + b[i]")


@pytest.mark.parametrize(("padding", "wavefronts"), [(0, 32), (1, 1)])
def test_bank_conflicts(padding, wavefronts):
    given = tensors(cp.zeros((32, 32), np.float32), cp.zeros((32, 32), np.float32))
    counted = profile(kernels.transposed, None, None, given, padding=padding)
    assert counted["shared_load_conflicts"] == 32 * (wavefronts - 1)


def test_a_race_in_shared_memory():
    given = tensors(cp.zeros((32, 32), np.float32), cp.zeros((32, 32), np.float32))
    assert not sanitize(kernels.transposed, None, None, given).findings
    found = sanitize(kernels.transposed, None, None, given, barrier=False).findings
    lines = {line_of("tile[row + i, column] = source"), line_of("target[row + i, column] = tile")}
    assert found and all(each.line in lines for each in found)


def test_an_access_out_of_bounds_names_array_and_line():
    x = cp.zeros(1000, np.float32)
    with pytest.raises(OutOfBounds, match=r"`a\[1000\]`") as raised:
        kernels.sum_of(*tensors(x, x, x), 1024)
    assert raised.value.line == line_of("c[i] = a[i] + b[i]")
    kernels.sum_of(*tensors(x, x, x), 1000)  # and the next call works


def test_a_trace():
    x = cp.zeros(1000, np.float32)
    found = trace(kernels.sum_of, None, None, (*tensors(x, x, x), 1000))
    assert len(found.accesses) == 4 * 3


def test_a_time_is_modelled():
    x = cp.zeros(1000, np.float32)
    times = [testing.benchmark(kernels.sum_of, kernel_arguments=testing.JitArguments(*tensors(x, x, x), 1000))] * 2
    assert times[0] == times[1] > 1


def test_what_tools_refuse():
    x = cp.zeros(1000, np.float32)
    with pytest.raises(LaunchError, match="launches 2 kernels: add, add"):
        profile(kernels.three_of, None, None, tensors(x, x, x))
    with pytest.raises(TypeError, match="None for both"):
        profile(kernels.sum_of, 8, 128, (*tensors(x, x, x), 1000))


def test_another_release_is_refused(monkeypatch):
    monkeypatch.setattr("cutlass.__version__", "5.0.0")
    with pytest.raises(Unsupported, match="nvidia-cutlass-dsl==4"):
        standin.installed()


def test_other_systems_are_told_what_to_do():
    assert "nvidia-cutlass-dsl" in standin.missing("linux")
    assert "Linux only" in standin.missing("darwin") and "RawKernel" in standin.missing("win32")


# ---------------------------------------------------------------- tensor maps

# What CuTe DSL 4.8's host code makes of (256, 128, 3) halves, boxes of 128 × 64, swizzled by 128 bytes.
MAP = (0x5644D30F0040, 0x1000246322, 0x1000, 0, 0xFF0000007F, 2, 0x3F00000000000000, 0x7F, *range(8))


def test_the_hardwares_bits_of_a_tensor_map():
    found = decode(as_ours(struct.pack("<16Q", *MAP)), rank=3)
    assert (found.address, found.element, found.swizzle) == (MAP[0], 2, 128)
    assert (found.sizes, found.strides, found.box) == ((128, 256, 3), (2, 256, 65536), (64, 128, 1))
    assert found.steps == (1, 1, 1)


def test_what_is_no_tensor_map_stays():
    for raw in (bytes(BYTES), bytes(range(BYTES)), struct.pack("<16Q", MAP[0] + 1, *MAP[1:]), b"12345678"):
        assert as_ours(raw) == raw
    packed = struct.pack("<16Q", MAP[0], MAP[1] | 15 << 7, *MAP[2:])
    with pytest.raises(Unsupported, match="packed elements"):
        as_ours(packed)


def test_unknown_attributes_of_the_device_are_refused():
    host = standin.compiler.Host("")
    with pytest.raises(CUDARuntimeError):
        host.cudaDeviceGetAttribute(0, 11, 0)  # the largest pitch
