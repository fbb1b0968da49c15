"""What `sanitize` gives back, and what it does with the kernel's arrays."""

from types import SimpleNamespace

import numpy as np
import pytest

from vgpu import sanitize as from_the_front_door
from vgpu.base.errors import LaunchError
from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda as cuda
from vgpu.tools.sanitize import KINDS, Finding, Findings, sanitize
from vgpu.tools.sanitize.monitor import MOST_FAULTS

BEYOND = """
extern "C" __global__ void k(const float* a, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * a[i];
}"""


def beyond():
    a, out = cp.arange(40, dtype=cp.float32), cp.zeros(40, cp.float32)
    return sanitize(cp.RawKernel(BEYOND, "k"), (2,), (32,), (a, out)), out


def test_it_is_at_the_front_door():
    found = from_the_front_door(cp.RawKernel(BEYOND, "k"), 1, 32, (cp.ones(32, cp.float32), cp.zeros(32, cp.float32)))
    assert isinstance(found, Findings) and found.ok and not found and len(found) == 0


def test_a_kernel_goes_on_after_a_bad_access():
    found, out = beyond()
    np.testing.assert_array_equal(cp.asnumpy(out), 2 * np.arange(40))
    assert found.ran_to_end and not found.ok
    assert [(f.kind, f.array, f.index, f.count) for f in found] == [
        ("out_of_bounds", "a", 40, 24), ("out_of_bounds", "out", 40, 24)]  # fmt: skip
    several_warps = sanitize(cp.RawKernel(BEYOND, "k"), 1, 128, (cp.ones(40, cp.float32), out))
    assert [f.count for f in several_warps] == [88, 88]


def test_a_finding_names_everything():
    finding = beyond()[0][0]
    assert (finding.line, finding.source) == (4, "out[i] = 2 * a[i];")
    assert (finding.thread, finding.block, finding.space) == ((8, 0, 0), (1, 0, 0), "global")
    assert finding.title == KINDS["out_of_bounds"].title and finding.level == "error"
    assert "guard" in finding.fix


def test_errors_come_before_hints_and_each_by_line():
    source = """
    extern "C" __global__ void k(float* out) {
        __shared__ float s[64];
        float v = s[threadIdx.x];
        if (threadIdx.x >= 40) return;
        __syncthreads();
        out[threadIdx.x] = v;
    }"""
    found = sanitize(cp.RawKernel(source, "k"), 1, 64, (cp.zeros(32, cp.float32),))
    assert [(f.level, f.kind, f.line) for f in found] == [
        ("error", "uninitialised", 4), ("error", "out_of_bounds", 7), ("hint", "barrier_ended", 6)]  # fmt: skip
    assert found.title == "sanitizer: k: 2 errors and 1 hint"


def test_text_is_the_same_every_time_and_has_no_addresses():
    first, again = repr(beyond()[0]), repr(beyond()[0])
    assert first == again and "0x" not in first
    assert first.startswith("sanitizer: k: 2 errors")


def test_html_is_escaped():
    finding = Finding("out_of_bounds", 3, "a<b>c", "x < y", "z & w", 2)
    page = Findings("k", (finding,))._repr_html_()
    assert "(seen 2 times)" in str(finding)
    assert "a&lt;b&gt;c" in page and "<b>c" not in page and "z &amp; w" in page and "2×" in page
    assert "nothing found" in Findings("k", ())._repr_html_()


@pytest.mark.parametrize("seeds", [(), (1, 2)])
def test_a_race_in_global_memory_that_nobody_looked_for_is_not_denied(seeds):
    source = 'extern "C" __global__ void k(int* out, const int* x) { out[x[threadIdx.x] & 1] += 1; }'
    launch = (cp.RawKernel(source, "k"), 1, 64, (cp.zeros(2, np.int32), cp.arange(64, dtype=np.int32)))
    assert "nothing found (races_in_global=True looks for" in repr(sanitize(*launch, seeds=seeds))
    assert not sanitize(*launch, seeds=seeds, races_in_global=True).ok


def test_many_findings_of_one_kind_and_remedy_are_shown_as_a_group():
    alike = [Finding("race_read_write", line, "", f"what {line}", "a barrier", other_line=50) for line in range(1, 8)]
    other = Finding("race_read_write", 9, "", "what 9", "another remedy")
    found = Findings("k", (*alike, other))
    for text in (repr(found), found._repr_html_()):
        assert [f"what {n}" in text for n in range(1, 10)] == [True] * 3 + [False] * 5 + [True]
        assert "4 more of the kind" in text and "lines 4, 5, 6, 7, 50" in text
    assert len(found) == 8 and all(f"what {n}" in repr(Findings("k", tuple(alike[:4]))) for n in range(1, 5))


def test_hints_are_no_errors():
    found = Findings("k", (Finding("barrier_ended", 3, "", "", ""),))
    assert found and found.ok and found.hints and not found.errors
    assert found.of("barrier_ended") and not found.of("overrun")
    with pytest.raises(KeyError):
        found.of("barier")


SENTENCES = {
    # what a kernel does, its grid, its block, and what is said of its first mistake
    "two blocks": (
        "if (blockIdx.x + blockIdx.y == 2) x[0] = 5 + blockIdx.x;", (2, 3), 1,
        "thread (0) of block (0, 2) writes `x[0]`, which thread (0) of block (1, 1) wrote; nothing orders the two "
        "blocks.",
    ),
    "one line": (
        "s[t % 32] = t;", 1, 64,
        "thread (32) of block (0) writes `s[0]`, which thread (0) wrote; nothing orders the two.",
    ),
    "two lines": (
        "s[t] = x[t];\n x[t] = s[t ^ 32];", 1, 64,
        "thread (32) of block (0) writes `s[32]`, which thread (0) read at line 5; nothing orders the two.",
    ),
    "past the end": (
        "r[t] = x[t];\n s[t + 8] = r[t];", 1, 64,
        "thread (56) of block (0) writes `s[64]`, in `r[0]`; `s` has 64 elements of 4 bytes.",
    ),
    "two barriers": (
        "if (t < 32) { __syncthreads(); x[t] = 1; }\n else { __syncthreads(); x[t] = 2; }", 1, 64,
        "thread (0) of block (0) waits at line 4, and thread (32) at line 5.",
    ),
    "a mask": (
        "if (t < 16) x[t] = __shfl_sync(0xffffffff, x[t], 0); else x[t] = x[t] * x[t];", 1, 32,
        "thread (0) of block (0) names the mask 0xffffffff, and lane 16, thread (16), has ended.",
    ),
    "activemask": (
        "if (t >= 16) x[t] = __shfl_sync(__activemask(), x[t], 16);", 1, 32,
        "thread (16) of block (0) takes the mask 0xffff0000 of activemask(), without thread (0).",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "grid", "block", "said"), SENTENCES.values(), ids=SENTENCES)
def test_the_first_thread_at_fault_is_said_with_its_element_and_the_other(body, grid, block, said):
    source = f"""extern "C" __global__ void k(float* x) {{
        __shared__ float s[64], r[64];
        int t = threadIdx.x;
        {body}
        if (t > 999) x[t] = s[t] + r[t];
    }}"""
    found = sanitize(cp.RawKernel(source, "k"), grid, block, (cp.ones(64, cp.float32),), races_in_global=True)
    assert found[0].what == said


@cuda.jit
def pair(x, out):
    tile = cuda.shared.array((8, 8), np.float32)
    ty, tx = cuda.threadIdx.y, cuda.threadIdx.x
    tile[ty, tx] = x[ty, tx]
    out[ty, tx] = tile[tx, ty]


def test_both_threads_and_both_lines_are_named():
    x, out = (cuda.to_device(np.arange(64, dtype=np.float32).reshape(8, 8)) for _ in range(2))
    (found,) = sanitize(pair, 1, (8, 8), (x, out))
    assert found.kind == "race_read_write" and found.array == "tile"
    assert found.other_line - found.line in (1, -1)
    assert found.thread != found.other_thread and found.block == found.other_block == (0, 0, 0)
    assert "cuda.sync" in found.fix


def test_an_element_of_an_array_in_fortran_order_has_its_index():
    @cuda.jit
    def put(x):
        x[1, 2] = cuda.blockIdx.x

    x = cuda.to_device(np.ones((4, 6), np.float32, order="F"))
    (found,) = sanitize(put, 3, 1, (x,), races_in_global=True)
    assert found.index == (1, 2) and "`x[1, 2]`" in found.what


def test_bytes_beside_one_another_are_no_race():
    source = """
    extern "C" __global__ void k(unsigned char* out) {
        __shared__ unsigned char s[64];
        s[threadIdx.x] = threadIdx.x;
        out[threadIdx.x] = s[threadIdx.x];
    }"""
    assert not sanitize(cp.RawKernel(source, "k"), 1, 64, (cp.zeros(64, cp.uint8),), races_in_global=True)


def test_one_value_written_by_all_is_no_race():
    source = """
    extern "C" __global__ void k(const int* a, int* out) {
        __shared__ int found;
        if (threadIdx.x == 0) found = 0;
        __syncthreads();
        if (a[threadIdx.x] > 5) found = 1;
        __syncthreads();
        if (threadIdx.x == 0) *out = found;
    }"""
    a = cp.arange(128, dtype=cp.int32)
    assert not sanitize(cp.RawKernel(source, "k"), 1, 128, (a, cp.zeros(1, cp.int32)))


def test_lanes_that_have_ended_may_be_named_where_they_send_nothing():
    source = """
    extern "C" __global__ void k(const int* a, int* out, int n) {
        __shared__ int s[32];
        int t = threadIdx.x;
        if (t >= n) return;
        s[t] = a[t];
        __syncwarp();
        out[t] = s[n - 1 - t] + __any_sync(0xffffffff, a[t] > 3);
    }"""
    args = cp.arange(32, dtype=cp.int32), cp.zeros(32, cp.int32), np.int32(20)
    found = sanitize(cp.RawKernel(source, "k"), 1, 32, args)
    assert not found, repr(found)


def test_use_after_free_is_named():
    source = """
    extern "C" __global__ void k(const float* const* rows, float* out) { out[threadIdx.x] = rows[0][threadIdx.x]; }
    """
    gone = cp.ones(32, cp.float32)
    rows = cp.asarray(np.array([gone.data.ptr], np.uint64))
    del gone
    (found,) = sanitize(cp.RawKernel(source, "k"), 1, 32, (rows, cp.zeros(32, cp.float32)))
    assert found.kind == "use_after_free", found


def test_an_access_that_lands_in_another_array_is_out_of_bounds():
    source = """
    extern "C" __global__ void k(const float* a, float* out, long long far) { out[threadIdx.x] = a[far]; }"""
    a, out = cp.ones(32, cp.float32), cp.zeros(32, cp.float32)
    far = (out.data.ptr - a.data.ptr) // 4
    (found,) = sanitize(cp.RawKernel(source, "k"), 1, 32, (a, out, np.int64(far)))
    assert (found.kind, found.array) == ("out_of_bounds", "a") and "`out[0]`" in found.what


def test_every_block_is_looked_at_though_one_cannot_go_on():
    source = """
    extern "C" __global__ void k(int* out) {
        if (blockIdx.x == 0) __trap();
        out[blockIdx.x] = 7;
    }"""
    out = cp.zeros(3, cp.int32)
    found = sanitize(cp.RawKernel(source, "k"), 3, 1, (out,))
    assert found.kinds == ("trap",) and not found.ran_to_end
    assert cp.asnumpy(out).tolist() == [0, 7, 7]


@pytest.mark.parametrize("barrier", ["", "__syncthreads();"])
def test_a_launch_with_very_many_faults_is_stopped(barrier):
    source = f"""
    extern "C" __global__ void k(float* x) {{
        for (long i = 1; i < 1L << 40; ++i) {{ x[i] = 0; {barrier} }}
    }}"""
    (found,) = findings = sanitize(cp.RawKernel(source, "k"), 3, 64, (cp.zeros(1, cp.float32),))
    assert found.kind == "out_of_bounds" and not findings.ran_to_end
    assert 32 * MOST_FAULTS <= found.count < 33 * MOST_FAULTS


def test_bad_calls_say_what_is_wrong():
    kernel = cp.RawKernel(BEYOND, "k")
    with pytest.raises(TypeError, match="tuple"):
        sanitize(kernel, 1, 32, cp.zeros(3))
    with pytest.raises(TypeError, match=r"cuda\.jit"):
        sanitize(len, 1, 32, ())
    with pytest.raises(LaunchError):
        sanitize(kernel, 1, 4096, (cp.zeros(3, cp.float32), cp.zeros(3, cp.float32)))


def test_a_plain_launch_is_as_strict_as_before():
    a, out = cp.arange(40, dtype=cp.float32), cp.zeros(40, cp.float32)
    kernel = cp.RawKernel(BEYOND, "k")
    sanitize(kernel, (2,), (32,), (a, out))
    with pytest.raises(Exception, match="out of bounds"):
        kernel((2,), (32,), (a, out))
        cp.cuda.runtime.deviceSynchronize()


def test_cooperative_groups_are_not_blamed():
    source = """
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int* a, int* out) {
        __shared__ int s[64];
        auto block = cg::this_thread_block();
        auto tile = cg::tiled_partition<8>(block);
        int t = block.thread_rank();
        s[t] = a[t];
        tile.sync();
        int other = s[t ^ 7];
        tile.sync();
        s[t] = cg::reduce(tile, other, cg::plus<int>());
        block.sync();
        if (t == 0) { int sum = 0; for (int i = 0; i < 64; i += 8) sum += s[i]; *out = sum; }
    }"""
    kernel = cp.RawModule(code=source, options=("-std=c++17",)).get_function("k")
    out = cp.zeros(1, cp.int32)
    found = sanitize(kernel, 1, 64, (cp.arange(64, dtype=cp.int32), out))
    assert not found, repr(found)
    assert int(out[0]) == 64 * 63 // 2


def test_tiles_of_a_warp_do_not_order_one_another():
    source = """
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int* a, int* out) {
        __shared__ int s[32];
        auto tile = cg::tiled_partition<8>(cg::this_thread_block());
        s[threadIdx.x] = a[threadIdx.x];
        tile.sync();
        out[threadIdx.x] = s[threadIdx.x ^ 8];
    }"""
    kernel = cp.RawModule(code=source, options=("-std=c++17",)).get_function("k")
    found = sanitize(kernel, 1, 32, (cp.arange(32, dtype=cp.int32), cp.zeros(32, cp.int32)))
    assert found.kinds == ("race_read_write",)
    assert {found[0].line, found[0].other_line} == {7, 9}


def test_a_pointer_that_may_be_of_two_arrays_is_not_blamed():
    source = """
    extern "C" __global__ void k(const float* a, float* out, int which) {
        __shared__ float s[32], r[32];
        int t = threadIdx.x;
        s[t] = a[t];
        r[t] = 2 * a[t];
        const float* of[3] = {s, r, a};
        __syncthreads();
        const float* p = which ? a : s;
        out[t] = p[t] + of[(which + t) % 3][t];
        for (int i = 0; i < 2; ++i) { out[t] += p[t]; p = of[(t + i) % 3]; }
    }"""
    for which in (0, 1):
        args = cp.ones(32, cp.float32), cp.zeros(32, cp.float32), np.int32(which)
        found = sanitize(cp.RawKernel(source, "k"), 1, 32, args)
        assert not found, repr(found)


def test_a_double_buffer_that_swaps_its_pointers_is_not_blamed():
    source = """
    extern "C" __global__ void k(const float* a, float* out) {
        __shared__ float one[64], two[64];
        float *from = one, *to = two;
        int t = threadIdx.x;
        from[t] = a[t];
        __syncthreads();
        for (int step = 1; step < 64; step *= 2) {
            to[t] = from[t] + (t >= step ? from[t - step] : 0);
            __syncthreads();
            float* other = from; from = to; to = other;
        }
        out[t] = from[t];
    }"""
    out = cp.zeros(64, cp.float32)
    found = sanitize(cp.RawKernel(source, "k"), 1, 64, (cp.ones(64, cp.float32), out), races_in_global=True)
    assert not found, repr(found)
    np.testing.assert_array_equal(cp.asnumpy(out), np.arange(1, 65))


def test_kernels_of_a_real_gpu_are_sanitized_on_copies(monkeypatch):
    import cupy

    from vgpu.tests.fake_gpu import FakeGPU, contents

    gpu = FakeGPU().install(monkeypatch)
    a, out = gpu.array(np.arange(40, dtype=np.float32)), gpu.array(np.zeros(40, np.float32))
    found = sanitize(cupy.RawKernel(BEYOND, "k"), (2,), (32,), (a, out))
    assert repr(found) == repr(beyond()[0])
    np.testing.assert_array_equal(contents(out), 2 * np.arange(40))


def test_flags_and_fences_between_blocks_order_them():
    source = """
    __device__ volatile int ready;
    extern "C" __global__ void k(volatile float* data, float* out) {
        if (threadIdx.x) return;
        if (blockIdx.x == 0) { data[0] = 3; FENCE; ready = 1; }
        else { while (!ready) {} __threadfence(); out[0] = data[0]; }
    }"""
    for fence, wanted in (("__threadfence()", ()), ("", ("race_read_write",))):
        kernel = cp.RawKernel(source.replace("FENCE", fence).replace("volatile float", "float"), "k")
        args = cp.zeros(1, cp.float32), cp.zeros(1, cp.float32)
        assert sanitize(kernel, 2, 32, args, races_in_global=True).kinds == wanted


@pytest.mark.parametrize(("ticket", "fences"), [("atomicAdd(tickets, 1)", True), ("blockIdx.x", False)])
def test_where_an_atomic_says_that_data_is_ready_a_fence_is_the_fix(ticket, fences):
    source = f"""extern "C" __global__ void k(int* parts, int* tickets, int* out) {{
        if (threadIdx.x > 0) return;
        parts[blockIdx.x] = blockIdx.x + 1;
        if ({ticket} == gridDim.x - 1)
            for (int b = 0; b < gridDim.x; ++b) *out += parts[b];
    }}"""
    arguments = cp.zeros(2, "int32"), cp.zeros(1, "int32"), cp.zeros(1, "int32")
    (found,) = sanitize(cp.RawKernel(source, "k"), 2, 32, arguments, races_in_global=True).errors
    assert ("put __threadfence() before and after it" in found.fix) == fences


def test_memory_that_the_sanitizer_lacks_is_reported(monkeypatch):
    def none_left(*_: int):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("vgpu.tools.sanitize.order.mmap", SimpleNamespace(mmap=none_left))
    with pytest.raises(MemoryError, match="The sanitizer needs 131,072 bytes"):
        beyond()
