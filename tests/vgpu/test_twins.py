"""A real GPU's kernels and arrays are counted on the virtual one: with real classes, over a GPU that is none."""

from __future__ import annotations

import gc
import types
from collections import namedtuple

import cupy
import numba.cuda as real_cuda
import numpy as np
import pytest
from cupy.cuda.memory import MemoryPointer, UnownedMemory

import helpers
from helpers.checking.check import check
from helpers.checking.exercise import exercises
from helpers.pictures.widgets import sectors, thread_grid
from tests.gpu.kernels import CASES, COPY, NAMES, ROWS, SAXPY, given, made
from vgpu.base.errors import OutOfBounds, Unsupported
from vgpu.compile import cuda_c_to_ptx, numba_adapter
from vgpu.standins import backend, numba_cuda, twins
from vgpu.standins import cupy as virtual_cp
from vgpu.standins.numba import args as numba_args
from vgpu.standins.numba import dispatcher as numba_dispatcher
from vgpu.standins.numba.array import DeviceRecord
from vgpu.standins.numba.kernel import NumbaKernel
from vgpu.standins.twins import twin
from vgpu.storage import memory
from vgpu.tests.fake_gpu import FakeGPU, contents
from vgpu.tools.compare import compare
from vgpu.tools.profile import profile
from vgpu.tools.steps.trace import trace

pytestmark = pytest.mark.filterwarnings("ignore:Host array")
each_kernel = pytest.mark.parametrize(("row", "language"), CASES, ids=NAMES)


@pytest.fixture
def gpu(monkeypatch) -> FakeGPU:
    return FakeGPU().install(monkeypatch)


def ramp(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.float32)


# --- whole kernels ------------------------------------------------------------------------------------------


@each_kernel
def test_counts_and_results_are_the_virtual_gpus(gpu, row, language):
    arguments, out = given(row, language, gpu.array)
    found = profile(made(row, language, cupy, real_cuda), row.grid, row.block, arguments, device="A100")
    there, _ = given(row, language, virtual_cp.asarray)
    virtual = made(row, language, virtual_cp, numba_cuda)
    assert repr(found) == repr(profile(virtual, row.grid, row.block, there, device="A100"))
    assert {key: found[key] for key in row.counts} == row.counts
    np.testing.assert_array_equal(contents(out), row.expected(row.arguments()))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_numbas_own_arrays(gpu, row):
    arguments, out = given(row, "python", gpu.numba_array)
    found = profile(row.python(real_cuda), row.grid, row.block, arguments)
    assert {key: found[key] for key in row.counts} == row.counts
    np.testing.assert_array_equal(contents(out), row.expected(row.arguments()))


@each_kernel
def test_a_trace_is_the_same_and_changes_nothing(gpu, row, language):
    arguments, out = given(row, language, gpu.array)
    before = contents(out)
    found = trace(made(row, language, cupy, real_cuda), row.grid, row.block, arguments)
    there, _ = given(row, language, virtual_cp.asarray)
    assert found == trace(made(row, language, virtual_cp, numba_cuda), row.grid, row.block, there)
    assert found.accesses and not gpu.copies("out")
    np.testing.assert_array_equal(contents(out), before)


def test_profiles_of_both_kinds_can_be_compared(gpu):
    row = ROWS[0]
    real = profile(made(row, "c", cupy, None), row.grid, row.block, given(row, "c", gpu.array)[0])
    virtual = profile(made(row, "c", virtual_cp, None), row.grid, row.block, given(row, "c", virtual_cp.asarray)[0])
    assert all(one == two for _, _, (one, two) in compare({"real": real, "virtual": virtual}).rows)


# --- what is left alone -------------------------------------------------------------------------------------


def test_what_is_virtual_stays_as_it_is(gpu):
    Pair = namedtuple("Pair", "left right")
    x = virtual_cp.ones(4, dtype="float32")
    args = (
        x, x[1:], x.data, numba_cuda.to_device(ramp(4)), ramp(3), np.float32(1), 2, 2.5, True, None, b"ab",
        numba_args.In(ramp(2)), Pair(1, x), [1, 2], virtual_cp.empty(0),
    )  # fmt: skip
    for kernel in (virtual_cp.RawKernel(SAXPY, "saxpy"), ROWS[0].python(numba_cuda), len, None):
        other, same, finish = twin(kernel, args)
        assert other is kernel and same is args
        finish()
    assert gpu.log == []


def test_another_librarys_array_over_virtual_memory_is_virtual(gpu):
    x = virtual_cp.ones(4)
    wrapped = types.SimpleNamespace(__cuda_array_interface__=x.__cuda_array_interface__)
    assert twin(None, (wrapped,))[1][0] is wrapped and gpu.log == []


def test_host_arrays_go_to_numba_kernels_and_come_back(gpu):
    row = ROWS[0]
    y = np.ones(1000, np.float32)
    profile(row.python(real_cuda), 4, 256, (np.float32(2), gpu.array(ramp(1000)), y))
    np.testing.assert_array_equal(y, 2 * ramp(1000) + 1)


def test_a_virtual_kernel_takes_real_arrays(gpu):
    row = ROWS[0]
    arguments, out = given(row, "c", gpu.array)
    profile(virtual_cp.RawKernel(SAXPY, "saxpy"), row.grid, row.block, arguments)
    np.testing.assert_array_equal(contents(out), row.expected(row.arguments()))


# --- arrays -------------------------------------------------------------------------------------------------

VIEWS = (
    ("whole", lambda a: a),
    ("from the second element", lambda a: a.ravel()[1:]),
    ("rows", lambda a: a[3:7]),
    ("columns", lambda a: a[:, 5:9]),
    ("every third", lambda a: a[::2, 1::3]),
    ("transposed", lambda a: a.T),
    ("backwards", lambda a: a[::-1]),
    ("backwards both ways", lambda a: a[::-2, ::-1]),
    ("one element", lambda a: a[4, 4]),
    ("a dimension more", lambda a: a[None, 2]),
    ("other bits", lambda a: a.view(np.int32)[2:]),
    ("empty", lambda a: a[5:5]),
)


@pytest.mark.parametrize("shift", [0, 4, 100])
@pytest.mark.parametrize("view", [view for _, view in VIEWS], ids=[name for name, _ in VIEWS])
def test_views_keep_contents_strides_and_place(gpu, view, shift):
    real = view(gpu.array(ramp(120).reshape(12, 10), shift))
    _, (array,), _ = twin(None, (real,))
    assert isinstance(array, virtual_cp.ndarray)
    assert (array.dtype, array.shape) == (real.dtype, real.shape)
    np.testing.assert_array_equal(array.get(), contents(real) if real.size else np.empty(real.shape, real.dtype))
    if real.size:
        # Of an axis with one element the stride says nothing, and the interface of C order has none.
        steps = [(a, b) for a, b, n in zip(array.strides, real.strides, real.shape, strict=True) if n > 1]
        assert all(one == two for one, two in steps)
        assert array.data.ptr % 256 == real.data.ptr % 256


def test_an_array_that_repeats_its_elements(gpu):
    real = cupy.broadcast_to(gpu.array(ramp(5)), (3, 5))
    described = {"shape": (3, 5), "strides": (0, 4), "typestr": "<f4", "data": (real.data.ptr, False), "version": 3}
    _, (array,), _ = twin(None, (types.SimpleNamespace(__cuda_array_interface__=described),))
    assert array.strides == (0, 4)
    np.testing.assert_array_equal(array.get(), np.broadcast_to(ramp(5), (3, 5)))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float64", "complex64", "i4,f8"])
def test_every_kind_of_element(gpu, dtype):
    host = np.zeros(6, dtype)
    host.view(np.uint8)[...] = np.arange(host.nbytes) % 2
    _, (array,), finish = twin(None, (gpu.array(host) if dtype != "i4,f8" else gpu.numba_array(host),))
    assert array.dtype == host.dtype
    assert array.get().tobytes() == host.tobytes()
    finish()


def test_a_record_of_numba(gpu):
    host = np.array((3, 1.5), np.dtype([("n", np.int32), ("x", np.float64)], align=True))
    low = gpu.write(gpu.allocate(host.nbytes), host)
    from numba.cuda.cudadrv import devicearray, driver

    pointer = driver.MemoryPointer(None, driver.binding.CUdeviceptr(low), host.nbytes)
    record = devicearray.DeviceRecord(host.dtype, gpu_data=pointer)

    @real_cuda.jit
    def grow(record):
        record.x = record.x + record.n

    assert isinstance(twin(grow, (record,))[1][0], DeviceRecord)
    profile(grow, 1, 1, (record,))
    assert contents(record).view(host.dtype)["x"] == 4.5


def test_the_gpu_is_waited_for_before_copying(gpu):
    twin(None, (gpu.array(ramp(4)), gpu.array(ramp(4))))
    assert gpu.log[0] == "wait" and len(gpu.copies("in")) == 2


ADD_UP = """
extern "C" __global__ void add_up(const float* left, const float* right, float* out) {
    int i = threadIdx.x;
    out[i] = left[i] + right[i];
}
"""


@pytest.mark.parametrize("make", ["array", "numba_array"])
def test_arrays_that_share_memory_are_copied_once(gpu, make):
    x = getattr(gpu, make)(ramp(100))
    kernel = cupy.RawKernel(ADD_UP, "add_up")
    profile(kernel, 1, 32, (x[:40], x[20:60], x[60:]))
    assert len(gpu.copies("in")) == len(gpu.copies("out")) == 1
    assert gpu.copies("out")[0][1] == 400
    expected = ramp(100)
    expected[60:92] = ramp(32) + ramp(52)[20:]
    np.testing.assert_array_equal(contents(x), expected)


def test_a_write_through_one_name_is_seen_through_the_other(gpu):
    @real_cuda.jit
    def shift(x, y):
        x[0] = 50
        y[0] += x[0]

    x = gpu.array(ramp(10))
    profile(shift, 1, 1, (x, x[0:5]))
    assert contents(x)[0] == 100


def test_neighbours_stay_apart(gpu):
    """Two views whose library does not tell what they are views of: an overrun of one must not land in the other."""
    low = gpu.write(gpu.allocate(400), ramp(100))
    halves = [
        types.SimpleNamespace(
            __cuda_array_interface__={"shape": (50,), "typestr": "<f4", "data": (low + at, False), "version": 3}
        )
        for at in (0, 200)
    ]
    _, (left, right), _ = twin(None, halves)
    assert memory.describe(left.data.ptr).allocation is not memory.describe(right.data.ptr).allocation
    with pytest.raises(OutOfBounds):
        profile(cupy.RawKernel(ADD_UP, "add_up"), 1, 64, (*halves, gpu.array(ramp(64))))


@pytest.mark.parametrize("make", ["array", "numba_array"])
def test_a_view_may_look_at_what_surrounds_it(gpu, make):
    halo = cupy.RawKernel(
        'extern "C" __global__ void halo(const float* x, float* y) '
        "{ int i = threadIdx.x; y[i] = x[i - 1] + x[i + 1]; }",
        "halo",
    )
    x, y = getattr(gpu, make)(ramp(34)), gpu.array(np.zeros(32, np.float32))
    profile(halo, 1, 32, (x[1:33], y))
    np.testing.assert_array_equal(contents(y), 2 * ramp(33)[1:])
    with pytest.raises(OutOfBounds):
        profile(halo, 1, 32, (x[0:32], y))


@pytest.mark.parametrize("language", ["c", "python"])
def test_a_thread_that_leaves_its_array_is_caught_and_nothing_comes_back(gpu, language):
    row = ROWS[1]
    arguments, out = given(row, language, gpu.array)
    with pytest.raises(OutOfBounds, match=r"source"):
        profile(made(row, language, cupy, real_cuda), 8, 128, (*arguments[:2], np.int32(5), np.int32(0)))
    assert not gpu.copies("out") and not contents(out).any()


def test_nothing_is_left_behind(gpu):
    row = ROWS[0]
    kernel, (arguments, _) = made(row, "c", cupy, None), given(row, "c", gpu.array)
    profile(kernel, row.grid, row.block, arguments)
    gc.collect()
    before = memory.usage()
    profile(kernel, row.grid, row.block, arguments)
    gc.collect()
    assert memory.usage() == before


def test_hints_and_tuples(gpu):
    @real_cuda.jit
    def both(pair, host):
        i = real_cuda.grid(1)
        pair[1][i] = 2 * pair[0][i] + host[i]
        host[i] = -1

    x, y, host = gpu.array(ramp(32)), gpu.array(ramp(32)), ramp(32)
    profile(both, 1, 32, ((x, y), real_cuda.In(host)))
    np.testing.assert_array_equal(contents(y), 3 * ramp(32))
    np.testing.assert_array_equal(host, ramp(32))
    profile(both, 1, 32, ((x, y), real_cuda.InOut(host)))
    assert (host == -1).all()
    _, (hint,), _ = twin(both, (real_cuda.Out(x),))
    assert type(hint) is numba_args.Out and isinstance(hint.value, virtual_cp.ndarray)
    Pair = namedtuple("Pair", "left right")
    _, (pair,), _ = twin(both, (Pair(x, 1),))
    assert type(pair) is Pair and isinstance(pair.left, virtual_cp.ndarray) and pair.right == 1


def test_pointers(gpu):
    x, out = gpu.array(ramp(64)), gpu.array(np.zeros(32, np.float32))
    profile(cupy.RawKernel(ADD_UP, "add_up"), 1, 32, (x.data, x.data + 128, out.data))
    np.testing.assert_array_equal(contents(out), ramp(32) + ramp(64)[32:])
    unknown = MemoryPointer(UnownedMemory(x.data.ptr, 0, x, 0), 0)
    with pytest.raises(Unsupported, match="Pass an array over it"):
        twin(None, (unknown,))


# --- CUDA C kernels -----------------------------------------------------------------------------------------


def raw(code, name, *, path=None, options=(), module=None):
    """What CuPy's `RawModule.get_function` gives, which needs a driver: a kernel of the same class and fields."""
    kind = type("RawKernel", (), {"__module__": "cupy._core.raw", "__qualname__": "RawKernel"})
    kernel = kind()
    kernel.code, kernel.name, kernel.file_path, kernel.options = code, name, path, options
    kernel.backend, kernel.enable_cooperative_groups = "nvrtc", False
    kernel.kernel = types.SimpleNamespace(module=module)
    return kernel


def test_cupys_kernel_has_what_is_read_of_it():
    assert (cupy.RawKernel.__module__, cupy.RawKernel.__qualname__) == ("cupy._core.raw", "RawKernel")
    kernel = cupy.RawKernel(SAXPY, "saxpy", ("-DN=1",), enable_cooperative_groups=True)
    other = twin(kernel)[0]
    assert isinstance(other, virtual_cp.RawKernel)
    assert (other.code, other.name, other.options, other.backend) == (SAXPY, "saxpy", ("-DN=1",), "nvrtc")
    assert other.enable_cooperative_groups
    assert twin(kernel)[0] is other


def test_options_reach_the_compiler(gpu):
    code = 'extern "C" __global__ void fill(float* x) { x[threadIdx.x] = VALUE; }'
    x = gpu.array(ramp(32))
    for value in (3, 4):
        profile(cupy.RawKernel(code, "fill", (f"-DVALUE={value}",)), 1, 32, (x,))
        assert (contents(x) == value).all()
    found = profile(cupy.RawKernel(code, "fill", ("-DVALUE=1", "-maxrregcount=32")), 1, 32, (x,))
    assert found.kernel.max_registers == 32


TEMPLATE = """
namespace deep { __global__ void plain(float* x) { x[threadIdx.x] = 7; } }
template<class T, int N> __global__ void fill(T* x) { x[threadIdx.x] = N; }
extern "C" __global__ void other(float* x) { x[threadIdx.x] = 9; }
"""


@pytest.mark.parametrize(("name", "value"), [("fill<float, 5>", 5), ("deep::plain", 7), ("other", 9)])
def test_functions_of_a_module(gpu, name, value):
    x = gpu.array(ramp(32))
    profile(raw(TEMPLATE, name), 1, 32, (x,))
    assert (contents(x) == value).all()


def test_a_module_from_a_ptx_file(gpu, tmp_path):
    path = tmp_path / "saxpy.ptx"
    path.write_text(cuda_c_to_ptx(SAXPY).ptx)
    row = ROWS[0]
    arguments, out = given(row, "c", gpu.array)
    profile(raw(None, "saxpy", path=str(path)), row.grid, row.block, arguments)
    np.testing.assert_array_equal(contents(out), row.expected(row.arguments()))


@pytest.mark.parametrize("path", [None, "kernels.cubin"])
def test_a_kernel_without_source_is_refused(path):
    with pytest.raises(Unsupported, match="source"):
        twin(raw(None, "saxpy", path=path))


CONSTANTS = """
__constant__ float weights[4];
__device__ int calls;
__device__ float table[2] = {1, 2};
extern "C" __global__ void weigh(float* x) {
    x[threadIdx.x] = weights[threadIdx.x % 4] * table[threadIdx.x % 2];
    if (threadIdx.x == 0) { calls += 1; printf("%d\\n", calls); }
}
"""


def test_variables_of_a_module_are_brought_along(gpu, capfd):
    from cupy.cuda import driver

    weights, calls = gpu.array(ramp(4) + 10), gpu.array(np.array([41], np.int32))
    known = {"weights": weights.data.ptr, "calls": calls.data.ptr}

    class Module:
        def get_global_var(self, name):
            assert not name.startswith("$")
            if name not in known:
                raise driver.CUDADriverError.__new__(driver.CUDADriverError)
            return known[name]

    kernel, x = raw(CONSTANTS, "weigh", module=Module()), gpu.array(ramp(32))
    for count in (42, 43):
        profile(kernel, 1, 32, (x,))
        assert contents(calls)[0] == count
    np.testing.assert_array_equal(contents(x), np.tile(ramp(4) + 10, 8) * np.tile([1, 2], 16))


# --- Python kernels -----------------------------------------------------------------------------------------


@real_cuda.jit(device=True)
def squared(x):
    return x * x


@real_cuda.jit(device=True)
def squared_and_more(x):
    return squared(x) + 1


@real_cuda.jit
def calls_by_global(x, out):
    i = real_cuda.grid(1)
    out[i] = squared_and_more(x[i])


def test_device_functions_of_a_module(gpu):
    x, out = gpu.array(ramp(32)), gpu.array(ramp(32))
    profile(calls_by_global, 1, 32, (x, out))
    np.testing.assert_array_equal(contents(out), ramp(32) ** 2 + 1)


def callers(cuda):
    @cuda.jit(device=True)
    def read(x, i):
        return x[i]

    @cuda.jit
    def double(x, out):
        i = cuda.grid(1)
        out[i] = 2 * read(x, i)

    return double


def test_lines_of_device_functions_are_counted_as_on_the_virtual_gpu(gpu):
    found = profile(callers(real_cuda), 1, 32, (gpu.array(ramp(32)), gpu.array(ramp(32))))
    virtual = profile(callers(numba_cuda), 1, 32, (virtual_cp.asarray(ramp(32)), virtual_cp.asarray(ramp(32))))
    assert repr(found) == repr(virtual)
    (load,) = (line for line in found.lines if line["global_load_requests"])
    assert load.source.strip() == "return x[i]"


def test_the_real_dispatchers_are_not_compiled_on_the_way(gpu):
    profile(calls_by_global, 1, 32, (gpu.array(ramp(32)), gpu.array(ramp(32))))
    assert not calls_by_global.overloads and not squared.overloads and not squared_and_more.overloads


def test_helpers_cuda_may_be_named_in_full(gpu, monkeypatch):
    monkeypatch.setattr(helpers, "cuda", real_cuda, raising=False)

    @real_cuda.jit
    def fill(x):
        x[helpers.cuda.grid(1)] = 5

    x = gpu.array(ramp(32))
    profile(fill, 1, 32, (x,))
    assert (contents(x) == 5).all()


def test_a_dispatcher_has_one_twin_as_long_as_it_lives():
    kernel = ROWS[0].python(real_cuda)
    other = twin(kernel)[0]
    assert isinstance(other, NumbaKernel) and other.py_func is kernel.py_func
    assert twin(kernel)[0] is other and twin(ROWS[0].python(real_cuda))[0] is not other
    gc.collect()
    before = len(numba_dispatcher._made)
    del kernel, other
    gc.collect()
    assert len(numba_dispatcher._made) == before - 1


def test_options_of_jit_are_kept():
    def work(x):
        x[0] = 1

    given = {"fastmath": True, "max_registers": 24, "launch_bounds": (128, 2), "link": ["other.cu"]}
    options = twin(real_cuda.jit(opt=True, **given)(work))[0].targetoptions
    assert {name: options[name] for name in given} == given


def test_signatures_are_kept(gpu):
    """Numba compiles a kernel with a signature for the driver's GPU at once; what that leaves is made by hand."""
    kernel = ROWS[0].python(real_cuda)
    numbers = numba_adapter.types
    signature = (numbers.float64, numbers.float32[:], numbers.float32[:])
    kernel.overloads[signature] = object()
    kernel.disable_compile()
    several = twin(kernel)[0]
    assert list(several.overloads) == [signature] and not several.specialized
    arguments, out = given(ROWS[0], "python", gpu.array)
    profile(kernel, 4, 256, arguments)
    np.testing.assert_array_equal(contents(out), ROWS[0].expected(ROWS[0].arguments()))
    with pytest.raises(TypeError, match="other types"):
        profile(kernel, 4, 256, (1.0, gpu.array(np.zeros(4)), arguments[2]))

    kernel.overloads.clear()  # Numba cleans up after what it thinks it compiled
    only = ROWS[0].python(real_cuda)
    only.overloads[signature] = object()
    only.disable_compile()
    only._specialized = True
    assert twin(only)[0].specialized
    only.overloads.clear()


def test_a_device_function_with_a_signature(gpu):
    with numba_adapter.modelled((8, 0)):

        @real_cuda.jit("float32(float32)", device=True)
        def half(x):
            return x / 2

    @real_cuda.jit
    def halve(x):
        i = real_cuda.grid(1)
        x[i] = half(x[i])

    x = gpu.array(ramp(32))
    profile(halve, 1, 32, (x,))
    np.testing.assert_array_equal(contents(x), ramp(32) / 2)


# --- checks and explorers -----------------------------------------------------------------------------------


class Untouched:
    """Stands where `cp` and `cuda` are on a machine with a GPU: whoever only counts has no business there."""

    RawKernel = cupy.RawKernel

    def __getattr__(self, name):
        raise AssertionError(f"the real GPU's cp.{name} was used")


@pytest.fixture
def on_a_gpu(monkeypatch):
    monkeypatch.setattr(helpers, "cp", Untouched(), raising=False)
    monkeypatch.setattr(helpers, "cuda", real_cuda, raising=False)
    monkeypatch.setattr(twins, "_variables", lambda kernel, other: [])  # no GPU here has loaded the kernel's own


TABLE = {key: row for key, row in exercises().items() if not row.of_a_lab}  # their solutions are in their sources


@pytest.mark.parametrize("key", TABLE)
def test_solutions_pass_on_a_machine_with_a_gpu(on_a_gpu, monkeypatch, key):
    task = TABLE[key]
    if task.language == "streams":  # a program that names CuPy's streams: it is dry-run with others in their place
        monkeypatch.setattr(helpers, "cp", cupy, raising=False)
        monkeypatch.setattr(backend, "on_gpu", lambda: True)
    answer = task.build(task.solution)
    assert task.language == "python" or not hasattr(answer, "prepare")  # it is CuPy's or Numba's own
    report = check(answer, key)
    assert report.passed, repr(report)


def test_a_check_still_catches_what_a_gpu_lets_pass(on_a_gpu):
    @real_cuda.jit
    def unguarded(x, out):
        i = real_cuda.grid(1)
        out[i] = max(x[i], 0)

    report = check(unguarded, "ch00.relu")
    assert not report.passed and "OutOfBounds" in repr(report)


def test_a_check_still_shows_what_was_never_written(on_a_gpu):
    leaky = TABLE["ch00.leaky"]
    empty = cupy.RawKernel(
        f'extern "C" __global__ void {leaky.name}(const float* x, float* out, float slope, int n) {{}}', leaky.name
    )
    report = check(empty, leaky)
    assert report.mistake == "nothing is written yet"


def test_a_check_reports_a_kernel_without_source(on_a_gpu):
    kernel = raw(None, "leaky_relu")
    type(kernel).__call__ = lambda self, *args: None
    report = check(kernel, "ch00.leaky")
    assert not report.passed and "source" in report.message


WHO = """
extern "C" __global__ void who(int* blocks, int* threads, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) {
        blocks[y * columns + x] = blockIdx.y * gridDim.x + blockIdx.x;
        threads[y * columns + x] = threadIdx.y * blockDim.x + threadIdx.x;
    }
}
"""


@pytest.mark.parametrize(("explorer", "code", "name"), [(sectors, COPY, "copy"), (thread_grid, WHO, "who")])
def test_explorers_count_on_the_virtual_gpu(on_a_gpu, explorer, code, name):
    assert repr(explorer(cupy.RawKernel(code, name))) == repr(explorer(virtual_cp.RawKernel(code, name)))


def test_an_explorer_takes_numbas_kernel(on_a_gpu):
    copy = ROWS[1]
    assert repr(sectors(copy.python(real_cuda))) == repr(sectors(copy.python(numba_cuda)))
