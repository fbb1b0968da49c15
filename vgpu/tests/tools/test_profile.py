"""Profiles: how they read (on made-up counts), and what they say of real kernels in both languages."""

import re
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest

from vgpu import profile as profile_module
from vgpu.hardware.gpus import GPUS
from vgpu.launch import launch
from vgpu.programs.observed import Observed
from vgpu.tools.profile import compare, modelled, profile

SAXPY = """\
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
TRANSPOSE = """\
extern "C" __global__ void transpose(const float* in, float* out, int n) {
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
"""


# --- on made-up counts: nothing is compiled or run ----------------------------------------------------------


class Totals(dict):
    """Counts that are 0 unless stated."""

    def __missing__(self, key):
        return 0


@dataclass
class Counters:
    lines: dict
    total: dict
    grid: tuple = (4, 1, 1)
    block: tuple = (256, 1, 1)
    footprint: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(read_bytes=4096, written_bytes=2048))
    warps: int = 32

    def __getitem__(self, key):
        from vgpu.launch.counters import KEYS

        if key not in KEYS:
            raise KeyError(key)
        return self.total.get(key, 0)


class FakeKernel:
    """A kernel whose launch returns counts made up by the test."""

    name, entry, ptx = "scale<T>", "scale", ""
    source = ("void scale(float* x) {", "    x[i] = x[i] < 2 && y;  // <b>bold</b>, as all that follows", "}")
    first_line = 11
    module = SimpleNamespace(module=SimpleNamespace(target="sm_80"))

    def __init__(self):
        self.finished = 0

    def compiled(self, count, follow, rows):
        return None, 0

    def prepare(self, args, grid=None, block=None):
        def finish():
            self.finished += 1

        return SimpleNamespace(
            kernel=self, params=[], arrays=[], shared_bytes=0, finish=finish, grid=None, block=None, cooperative=False
        )


LINES = {
    4: {"instructions": 8, "thread_instructions": 256, "overwritten_stores": 1},  # above the kernel
    12: {
        "instructions": 96, "thread_instructions": 96 * 24, "overwritten_stores": 2,
        "global_load_requests": 32, "global_load_sectors": 160,
        "global_store_requests": 32, "global_store_sectors": 128,
        "shared_load_requests": 2, "matrix_load_requests": 2, "shared_load_wavefronts": 10,
        "shared_atomic_requests": 1, "shared_atomic_wavefronts": 2,
        "local_load_requests": 2, "local_load_sectors": 8, "local_store_requests": 1, "local_store_sectors": 4,
    },
    13: {"instructions": 32, "thread_instructions": 1024},
}  # fmt: skip


@pytest.fixture
def fake(monkeypatch):
    """A profile of FakeKernel on the A100, and how it was launched."""
    total = Totals(
        global_load_bytes=4096, global_store_bytes=4096, branches=40, divergent_branches=3,
        async_copies=2, async_copy_bytes=256, global_copy_sectors=8, shared_copy_wavefronts=6,
    )  # fmt: skip
    for counts in LINES.values():
        for key, count in counts.items():
            total[key] += count
    launched = []

    def launch(kernel, grid, block, params, arrays, shared_bytes, *, observe, timeout, cooperative, watched):
        launched.append((grid, block, shared_bytes, observe, timeout))
        return Counters(LINES, total)

    needs = SimpleNamespace(
        registers=33, shared_bytes=128, spill_store_bytes=16, spill_load_bytes=8, local_bytes=8, arch="sm_80"
    )
    module = SimpleNamespace(launch=launch, check_dimensions=lambda *shape: shape, in_rows=lambda *shape: True)
    unseen = SimpleNamespace(races=lambda counters: ())
    # First, as it imports its module, which has to see the real launch.
    monkeypatch.setattr("vgpu.tools.sanitize.sample.Sample", lambda *asked: unseen)
    monkeypatch.setitem(__import__("sys").modules, "vgpu.launch.launch", module)
    monkeypatch.setattr("vgpu.launch.launch", module, raising=False)
    monkeypatch.setattr("vgpu.tools.profile.resources_on", lambda kernel, gpu: needs)
    monkeypatch.setattr("vgpu.tools.profile.note", lambda *asked: "machine code: as counted")
    monkeypatch.setattr("vgpu.tools.profile.shared_requests", lambda *asked: ())
    kernel = FakeKernel()
    return profile(kernel, 4, 256, (1,), device="A100", shared_bytes=64, timeout=3), launched, kernel


TEXT = """\
Profile of scale<T>: 4 blocks of 256 threads

counted, per source line:
load req  sect/req  store req  sect/req  shm wf/req  local req  lanes  instr  line
--------  --------  ---------  --------  ----------  ---------  -----  -----  \
--------------------------------------------
                                                                   32      8     4
      32         5         32         4        2.40          3     24     96    12     x[i] = x[i] < 2 && y;  // \
<b>bold</b>, as all…
                                                                   32     32    13 }

counted: global loads: 32 requests, 160 sectors, 5 a request, 80.0 % of their bytes requested
counted: global stores: 32 requests, 128 sectors, 4 a request, 100.0 % of their bytes requested
counted: shared loads: 4 requests, 2 of them of matrices, 2.50 wavefronts a request
counted: lines 4 and 12: lanes of one warp store different values to one element, and one of them wins (3 requests): \
`sanitize(kernel, grid, block, args, races_in_global=True)` shows more
counted: asynchronous copies: 2, 256 bytes, 4 sectors of global memory and 3 wavefronts of shared memory each
counted: local memory: 3 requests, 12 sectors (not in registers)
counted: 136 warp instructions (PTX), 26.35 of 32 lanes active; 3 of 40 branches diverge
counted: touches 4,096 bytes to read and 2,048 to write, in whole sectors
machine code: as counted
compiler (sm_80): 33 registers a thread; shared memory 128 bytes static, 64 dynamic; spills 24 bytes
compiler: occupancy 75.0% on A100: 6 blocks, 48 of 64 warps an SM, limited by registers
modelled: 5.26 µs on A100, bound by launch"""


def test_text_is_the_same_everywhere(fake):
    assert re.sub("-{40,}", "-" * 44, repr(fake[0])) == TEXT


def test_it_is_launched_once_and_finished(fake):
    _, launched, kernel = fake
    assert launched == [(4, 256, 64, True, 3)]
    assert kernel.finished == 1


def test_html_is_accessible_and_escaped(fake):
    html = fake[0]._repr_html_()
    assert "<caption" in html and html.count('scope="col"') == 10 and html.count('scope="row"') == 3
    assert "&lt;b&gt;bold&lt;/b&gt;" in html and "<b>" not in html
    assert "scale&lt;T&gt;" in html
    # No colour of its own: it has to read on a light and on a dark page.
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b|\brgb|:\s*(white|black)\b", html)
    for word in ("Counted", "compiler", "modelled"):
        assert word in html


def test_derived_ratios(fake):
    found = fake[0]
    assert found["sectors_per_load_request"] == 5
    assert found["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"] == 4
    assert found["load_efficiency"] == 80  # 4096 of 160 x 32 bytes
    assert found["smsp__thread_inst_executed_per_inst_executed.ratio"] == pytest.approx(3584 / 136)
    assert found["launch__registers_per_thread"] == 33
    assert found["sm__maximum_warps_per_active_cycle_pct"] == 75
    assert found["wavefronts_per_shared_store"] is None  # no request, no ratio
    assert (found["wavefronts_per_shared_load"], found["shared_wavefronts"]) == (2.5, 10 + 2 + 6)


def test_lines_and_rows(fake):
    found = fake[0]
    assert [line.number for line in found.lines] == [4, 12, 13]
    assert found.lines[1]["global_load_sectors"] == 160
    assert found.lines[2]["global_load_sectors"] == 0
    assert found.table()[2] == {"line": 13, "source": "}", "instructions": 32, "thread_instructions": 1024}
    assert found.registers == 33


@pytest.mark.parametrize(
    ("grid", "block", "title"),
    [
        ((1, 1, 1), (1, 1, 1), "1 block of 1 thread"),
        ((4, 1, 2), (8, 2, 1), "4 × 1 × 2 blocks of 8 × 2 threads"),
    ],
)
def test_the_title_has_the_dimensions_that_were_used(fake, grid, block, title):
    launched = replace(fake[0].counters, grid=grid, block=block)
    assert replace(fake[0], counters=launched).title == f"Profile of scale<T>: {title}"


def test_an_unknown_metric_names_the_nearest(fake):
    with pytest.raises(KeyError, match=r"Did you mean .*sectors_per_load_request"):
        fake[0]["sectors_per_load_requests"]


def test_args_must_be_a_tuple():
    with pytest.raises(TypeError, match=r"\(x,\) for one argument; got ndarray"):
        profile(FakeKernel(), 1, 1, np.zeros(3))


def test_what_is_no_kernel():
    with pytest.raises(TypeError, match=r"takes a @cuda.jit or @triton.jit kernel or a cp.RawKernel"):
        profile(3, 1, 1, ())
    with pytest.raises(TypeError, match=r"`print` is a plain Python function.* write @cuda.jit.*profile\(kernel, grid"):
        profile(print, 1, 1, ())


def test_comparing(fake):
    counted = fake[0].counters
    more = Totals({**counted.total, "global_load_sectors": 320, "global_atomic_requests": 7})
    slow = replace(counted, total=more, footprint=SimpleNamespace(read_bytes=10**9, written_bytes=0))
    found = compare(fake[0], replace(fake[0], counters=slow), gpus=("A100",))
    assert found.names == ("scale<T>", "scale<T> (2)")
    rows = {what: (kind, values) for what, kind, values in found.rows}
    assert rows["sectors a load request"] == ("counted", ("5", "10"))
    assert rows["global load sectors"] == ("counted", ("160", "320"))
    assert rows["global atomic requests"] == ("counted", ("0", "7"))
    assert rows["time on A100"] == ("modelled", ("5.26 µs (launch)", "596 µs (DRAM)"))
    assert not {"shared wavefronts a store", "special functions"} & rows.keys(), "no number, and 0 in both"
    assert "counted: sectors a load request" in repr(found)
    assert "scale&lt;T&gt;" in found._repr_html_()
    assert compare({"before": fake[0]}).names == ("before",)
    with pytest.raises(ValueError, match="at least one"):
        compare()


# --- real kernels -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cp():
    from vgpu.standins import cupy

    return cupy


@pytest.fixture(scope="module")
def cuda():
    from vgpu.standins import numba_cuda

    return numba_cuda


def saxpy_arguments(cp, n):
    x, y = cp.arange(n, dtype=cp.float32), cp.ones(n, dtype=cp.float32)
    return np.float32(2), x, y, np.int32(n)


def test_saxpy_in_cuda_c(cp):
    n = 4096
    arguments = saxpy_arguments(cp, n)
    found = profile(cp.RawKernel(SAXPY, "saxpy"), n // 256, 256, arguments, device="A100")
    assert found["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 2 * n // 32
    assert found["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 4 * 2 * n // 32
    assert found["sectors_per_load_request"] == found["sectors_per_store_request"] == 4
    assert found["load_efficiency"] == found["store_efficiency"] == 100
    assert found.counters.footprint.read_bytes == 8 * n
    (work,) = (line for line in found.lines if line["global_load_requests"])
    assert (work.number, work.source.strip()) == (4, "y[i] = a * x[i] + y[i];")
    # It ran once, on these very arrays.
    np.testing.assert_array_equal(cp.asnumpy(arguments[2]), 2 * np.arange(n, dtype=np.float32) + 1)


@pytest.mark.filterwarnings("ignore:Host array")
def test_saxpy_in_python(cuda):
    @cuda.jit
    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = a * x[i] + y[i]

    n = 1000
    x, y = np.arange(n, dtype=np.float32), np.ones(n, dtype=np.float32)
    found = profile(saxpy, 4, 256, (np.float32(2), x, cuda.to_device(y)), device="T4")
    assert found.name == "saxpy"
    assert found["global_load_requests"] == 2 * 32  # of 32 warps, the last one with 8 lanes
    (work,) = (line for line in found.lines if line["global_store_requests"])
    assert work.source == "        y[i] = a * x[i] + y[i]"  # as indented in its own function
    assert found.resources.arch == "sm_75"


@pytest.mark.filterwarnings("ignore:Host array")
def test_host_arrays_come_back(cuda):
    @cuda.jit
    def twice(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    x = np.arange(100, dtype=np.float32)
    profile(twice, 1, 128, (x,))
    np.testing.assert_array_equal(x, 2 * np.arange(100))


@pytest.mark.parametrize("pad, wavefronts", [(0, 32), (1, 1)])
def test_transpose_with_and_without_padding(cp, pad, wavefronts):
    n = 64
    source = cp.arange(n * n, dtype=cp.float32).reshape(n, n)
    out = cp.empty_like(source)
    kernel = cp.RawKernel(TRANSPOSE.replace("PAD", str(pad)), "transpose")
    found = profile(kernel, (2, 2), (32, 32), (source, out, np.int32(n)), device="A100")
    assert found["wavefronts_per_shared_load"] == wavefronts
    assert found["wavefronts_per_shared_store"] == 1
    assert found.resources.shared_bytes == 32 * (32 + pad) * 4
    assert found.occupancy.limiter in ("warps", "warps and registers")
    np.testing.assert_array_equal(cp.asnumpy(out), cp.asnumpy(source).T)


def test_metrics_have_every_counter_by_its_nsight_name(cp):
    from vgpu.launch.counters import COUNTERS

    found = profile(cp.RawKernel(SAXPY, "saxpy"), 1, 32, saxpy_arguments(cp, 32))
    metrics = found.metrics()
    for counter in COUNTERS:
        assert found[counter.key] == metrics[counter.nsight or counter.key]
    assert metrics["smsp__thread_inst_executed_per_inst_executed.ratio"] == 32


def test_dynamic_shared_memory_limits_occupancy(cp):
    kernel = cp.RawKernel(SAXPY, "saxpy")
    found = profile(kernel, 1, 128, saxpy_arguments(cp, 128), shared_bytes=40 * 1024, device="A100")
    # 41 KiB with the driver's own: 4 blocks in 164 KiB.
    assert (found.occupancy.blocks_per_sm, found.occupancy.limiter) == (4, "shared memory")
    assert "shared memory 0 bytes static, 40,960 dynamic" in repr(found)
    assert modelled(found.kernel, found.counters, found.gpu) == (found.occupancy, found.model)


@pytest.mark.parametrize("name", GPUS)
def test_every_gpu_can_be_modelled(cp, name):
    found = profile(cp.RawKernel(SAXPY, "saxpy"), 16, 256, saxpy_arguments(cp, 4096), device=name)
    assert found.gpu.name == name
    assert found.registers > 0 and found.model.seconds > 0
    assert found.on("H100").counters is found.counters


REGISTERS = """\
extern "C" __global__ void heavy(const float* x, float* y, int n) {
    float total = 0, v[48];
    for (int i = 0; i < 48; i++) v[i] = x[threadIdx.x + 32 * i];
    for (int r = 0; r < n; r++)
        for (int i = 0; i < 48; i++) v[i] = v[i] * v[(i + 5) % 48] + r;
    for (int i = 0; i < 48; i++) total += v[i];
    y[threadIdx.x] = total;
}
"""


def test_a_rawkernels_limit_on_registers_is_kept(cp):
    def heavy(*options):
        x, y = cp.ones(32 * 48, dtype=cp.float32), cp.empty(32, dtype=cp.float32)
        kernel = cp.RawKernel(REGISTERS, "heavy", options)
        return profile(kernel, 1, 32, (x, y, np.int32(3)), device="A100")

    free, held = heavy(), heavy("-maxrregcount=32")
    assert free.registers > 48 and free.resources.spill_store_bytes == 0
    assert held.registers <= 32 and held.resources.spill_store_bytes > 0
    assert (free.kernel.max_registers, held.kernel.max_registers) == (None, 32)
    assert held.on("H100").registers <= 32


def test_programs_profiles_keep_limits_on_registers(cp):
    x, y, seen = cp.ones(32 * 48, dtype=cp.float32), cp.empty(32, dtype=cp.float32), Observed()
    with launch.FINISHED.hearing(seen.note):
        cp.RawKernel(REGISTERS, "heavy", ("-maxrregcount=32",))((1,), (32,), (x, y, np.int32(3)))
    (launched,) = seen.launched
    assert launched.profile().registers <= 32


LOCAL = """\
extern "C" __global__ void pick(const int* where, float* y) {
    float v[32];
    for (int i = 0; i < 32; i++) v[i] = i;
    y[threadIdx.x] = v[where[threadIdx.x]];
}
"""


def test_local_memory_is_named_when_there_is_any(cp):
    where, y = cp.arange(32, dtype=cp.int32), cp.empty(32, dtype=cp.float32)
    found = profile(cp.RawKernel(LOCAL, "pick"), 1, 32, (where, y), device="A100")
    assert found["local_load_requests"] > 0
    assert re.search(r"counted: local memory: \d+ requests, \d+ sectors", repr(found))


def test_a_numba_kernels_limit_on_registers_is_kept(cuda):
    @cuda.jit(max_registers=32)
    def twice(x):
        x[cuda.grid(1)] *= 2

    found = profile(twice, 1, 32, (cuda.to_device(np.ones(32, dtype=np.float32)),))
    assert found.kernel.max_registers == 32
    assert found.registers <= 32


def test_two_runs_read_the_same(cp):
    kernel = cp.RawKernel(SAXPY, "saxpy")
    one, two = (profile(kernel, 16, 256, saxpy_arguments(cp, 4096), device="A100") for _ in range(2))
    assert repr(one) == repr(two)
    assert one._repr_html_() == two._repr_html_()


def test_the_module_is_called_like_its_function():
    assert profile_module is profile or callable(profile_module)


# ---------------------------------------------------------------- what few kernels do

TENSOR = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half* a, const half* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}"""
COPY = """
#include <cuda_pipeline.h>
extern "C" __global__ void copy(const float* in, float* out) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = sqrtf(tile[63 - t]);
}"""
FETCH = """
extern "C" __global__ void fetch(cudaTextureObject_t image, float* out) {
    out[threadIdx.x] = tex1Dfetch<float>(image, threadIdx.x);
}"""


def column(found, heading):
    """The values of a column by line, read from the text of a profile."""
    from vgpu.tools.profile_table import COLUMNS

    meant = next(each for each in COLUMNS if each.heading == heading)
    values = {line.number: meant.value(line.counts) for line in found.lines}
    return {number: value for number, value in values.items() if value is not None}


def test_tensor_cores_have_a_column_and_a_line(cp):
    a, c = cp.ones((16, 16), "float16"), cp.zeros((16, 16), "float32")
    found = profile(cp.RawKernel(TENSOR, "product"), 3, 32, (a, a, c))
    assert column(found, "tensor") == {11: 3} and "  tensor  " in repr(found)
    assert f"tensor cores: 3 products of warps (PTX), {3 * 2 * 16**3:,} FLOP of half precision" in repr(found)
    assert found["tensor_instructions"] == found.metrics()["sm__inst_executed_pipe_tensor.sum"] == 3
    assert ("tensor-core products (PTX)", "counted", ("3", "3")) in compare(found, found).rows


def test_stores_that_lanes_overwrite_are_named_with_their_line(cp):
    code = """
extern "C" __global__ void put(float* out, int step) {
    out[threadIdx.x / 2 * step] = threadIdx.x;
    out[99] = 1;
}"""
    out = cp.zeros(100, dtype="float32")
    found = profile(cp.RawKernel(code, "put"), 1, 64, (out, np.int32(1)))
    assert found["overwritten_stores"] == 2
    assert [line.number for line in found.lines if line["overwritten_stores"]] == [3]
    (said,) = [line for line in found.summary if "one of them wins" in line]
    assert said == (
        "counted: line 3: lanes of one warp store different values to one element, and one of them wins (2 requests): "
        "`sanitize(kernel, grid, block, args, races_in_global=True)` shows more"
    )


def test_asynchronous_copies_have_columns_and_a_line(cp):
    x, y = cp.ones(64, "float32"), cp.zeros(64, "float32")
    found = profile(cp.RawKernel(COPY, "copy"), 1, 64, (x, y))
    assert column(found, "async cp") == {6: 2} and column(found, "sect/cp") == {6: 4}
    assert column(found, "special") == {10: 64}
    assert "4 sectors of global memory and 1 wavefronts of shared memory each" in repr(found)
    assert found["sectors_per_async_copy"] == found.metrics()["sectors_per_async_copy"] == 4
    assert "load req" not in repr(found)


def test_textures_have_columns_and_a_line(cp):
    texture, runtime = cp.cuda.texture, cp.cuda.runtime
    x, y = cp.ones(64, "float32"), cp.zeros(64, "float32")
    form = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    resource = texture.ResourceDescriptor(runtime.cudaResourceTypeLinear, arr=x, chDesc=form, sizeInBytes=256)
    image = texture.TextureObject(resource, texture.TextureDescriptor())
    found = profile(cp.RawKernel(FETCH, "fetch"), 1, 64, (image, y))
    assert column(found, "tex req") == {3: 2}
    assert "textures: 2 requests, 8 sectors, 4 a request" in repr(found)
    assert found["sectors_per_texture_request"] == 4
    assert repr(image) == "<TextureObject over linear memory>"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"args": 3}, "args is a tuple"),
        ({"kernel": None}, "this is None, as a launch returns it"),
        ({"kernel": 3}, "takes a @cuda.jit or @triton.jit kernel"),
        ({"kernel": len}, "takes a kernel, and `len` is a plain Python function"),
        ({"blok": 3}, "does not know blok=…"),
    ],
)
@pytest.mark.parametrize("verb", ["profile", "trace", "record", "sanitize"])
def test_all_four_say_alike_what_they_do_not_take(cp, verb, change, says):
    import vgpu

    kernel = cp.RawKernel('extern "C" __global__ void k(float* x) { x[0] = 1; }', "k")
    given = {"kernel": kernel, "grid": 1, "block": 1, "args": (cp.zeros(1, "float32"),)} | change
    with pytest.raises(TypeError, match=says):
        getattr(vgpu, verb)(**given)


def test_a_configured_numba_kernel_is_no_kernel(cuda):
    from vgpu import sanitize

    @cuda.jit
    def one(x):
        x[0] = 1

    with pytest.raises(TypeError, match=r"sanitize takes .* with its \[grid, block\]: pass the kernel itself"):
        sanitize(one[1, 1], 1, 1, (cuda.device_array(1),))


def test_a_cooperative_kernel_is_profiled_as_it_is_launched(cuda):
    @cuda.jit
    def meet(x):
        x[cuda.grid(1)] = 1
        cuda.cg.this_grid().sync()
        x[cuda.grid(1)] += x[63 - cuda.grid(1)]

    x = cuda.to_device(np.zeros(64, "float32"))
    found = profile(meet, 2, 32, (x,))
    assert (x.copy_to_host() >= 2).all() and found["global_atomic_requests"] == 2
