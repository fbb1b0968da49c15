"""Machine code beside source lines, and the words below a profile where it differs from what was counted."""

from types import SimpleNamespace

import numpy as np
import pytest

from vgpu import cp, cuda, profile, sass
from vgpu.base.errors import ArgumentError, Unsupported
from vgpu.compile.machine_code import MachineInstruction
from vgpu.tools.assembled import Accesses
from vgpu.tools.sass import _MAY_DIFFER, AssembledRequests, loads_in_flight, note

RAW = r"""
extern "C" __global__ void rows(const float* x, float* out) {
    __shared__ float tile[128];
    for (int k = 0; k < 4; ++k) tile[32 * k + threadIdx.x] = x[32 * k + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum += tile[4 * threadIdx.x + k];
    out[threadIdx.x] = sum;
}
extern "C" __global__ void local(const float* x, float* out) {
    float r[4];
    for (int i = 0; i < 4; ++i) r[i] = x[i];
    float sum = 0;
    #pragma unroll 1
    for (int i = 0; i < 4; ++i) sum = 2 * sum + r[i ^ 1];
    out[threadIdx.x] = sum;
}
__constant__ float table[64];
extern "C" __global__ void constant(float* out) { out[threadIdx.x] = table[5] + table[threadIdx.x]; }
extern "C" __global__ void most(unsigned long long* out) {
    __shared__ unsigned long long found;
    atomicMax(&found, out[threadIdx.x]);
}
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const __half* x, float* out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0);
    wmma::load_matrix_sync(a, x, 16);
    wmma::load_matrix_sync(b, x + 256, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
extern "C" __global__ void bins(const float* x) {
    __shared__ int mine[32];
    atomicAdd(&mine[(int)x[threadIdx.x]], 1);
}
"""


@cuda.jit(device=True)
def twice(v):
    return v + v


@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    out[i] = twice(x[i])


@pytest.fixture
def arrays():
    return cp.ones(128, np.float32), cp.zeros(128, np.float32)


def raw(name: str):
    return cp.RawModule(code=RAW).get_function(name)


def test_lines_and_their_instructions_stand_side_by_side(arrays):
    found = sass(raw("rows"), 1, 32, arrays, device="H100")
    assert (found.name, found.arch, found.gpu.name) == ("rows", "sm_90", "H100")
    assert (found.count("LDS"), found.count("LDS.128"), found.count("STS"), found.count("LD")) == (1, 1, 4, 0)
    (line,) = [line for line in found.lines if line.number == 7]
    assert line.source.strip().startswith("for (int k = 0; k < 4; ++k) sum")
    (load,) = [i for i in line.instructions if i.opcode == "LDS.128"]
    assert repr(found).splitlines()[0] == (
        f"Machine code of rows for H100 (sm_90): {len(found.instructions)} instructions, 17 registers a thread"
    )
    assert f"\n       {load.address:04x}  {load.text}\n" in repr(found)
    html = found._repr_html_()
    assert "<caption" in html and html.count('scope="row"') == len(found.lines) and "k &lt; 4" in html
    assert sum(len(line.instructions) for line in found.lines) == len(found.instructions)


@pytest.mark.parametrize(("promise", "loads"), [("", 2), ("__restrict__", 8)])
def test_loads_in_flight_are_those_before_a_value_is_needed(promise, loads):
    source = f"""
extern "C" __global__ void sums(const float* {promise} x, const float* {promise} y, float* {promise} out, int n) {{
    int threads = blockDim.x;
    #pragma unroll 4
    for (int i = threadIdx.x; i < n; i += threads) out[i] = x[i] + y[i];
}}"""
    x, out = cp.ones(1024, np.float32), cp.zeros(1024, np.float32)
    found = sass(cp.RawKernel(source, "sums"), 1, 128, (x, x, out, np.int32(1024)), device="A100")
    assert found.loads_in_flight == loads


def test_nothing_runs_and_an_old_gpu_is_shown_as_the_oldest_that_cuda_knows(arrays):
    found = sass(scale, 1, 128, arrays, device="V100")
    assert not arrays[1].any()
    assert (found.arch, found.count("LDG"), found.count("STG")) == ("sm_75", 1, 1)
    first = twice.py_func.__code__.co_firstlineno
    assert (found.lines[0].number, found.lines[0].source) == (first + 2, "    return v + v"), "lines are sorted"
    with pytest.raises(ArgumentError, match=r"^sass takes a kernel, and `print` is a plain Python function"):
        sass(print, 1, 128, arrays)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (
            "rows",
            "machine code (sm_80): line 7: 4 shared loads are 1 (LDS.128), so 1 request, 4 counted; "
            "wavefronts are counted for the accesses in PTX",
        ),
        (
            "local",
            "machine code (sm_80): line 12: kept in registers, no local store, 1 counted; "
            "line 15: kept in registers, no local load, 4 counted",
        ),
        ("constant", "machine code (sm_80): line 19: 2 constant loads are 1 (LDC), so fewer requests, 2 counted"),
        (
            "most",
            "machine code (sm_80): line 22: a shared atomic is a loop of compare-and-swap (ATOMS.CAST.SPIN.64), "
            "over 1 request counted",
        ),
        (
            "bins",
            "machine code (sm_80): line 38: lanes that want one shared word are counted at once (ATOMS.POPC.INC.32), "
            "so fewer wavefronts",
        ),
    ],
)
def test_a_profile_says_where_the_machine_code_differs(kernel, words, arrays):
    others = {"constant": (arrays[1],), "most": (cp.zeros(32, np.uint64),), "bins": arrays[:1]}
    found = profile(raw(kernel), 1, 32, others.get(kernel, arrays), device="A100")
    assert found.machine_note == words
    assert found.summary.count(words) == 1 and words.split(":")[0] in repr(found)
    # What is counted stays what PTX asks for.
    assert found.lines[0].number > 0 and found.total["shared_load_requests"] == (4 if kernel == "rows" else 0)


def test_requests_to_shared_memory_stand_beside_those_of_the_machine_code(arrays):
    found = profile(raw("rows"), 1, 32, arrays, device="A100")
    assert found.assembled == (AssembledRequests((7,), "load", 4, 1, ("LDS.128",)),)
    assert "counted: shared loads: 4 requests (1 in the machine code), 4 wavefronts a request" in found.summary
    assert "counted: shared stores: 4 requests, 1 wavefront a request" in found.summary
    assert "(1 in the machine code)" in found._repr_html_()
    assert not profile(scale, 1, 128, arrays).assembled
    assert not profile(raw("most"), 1, 32, (cp.zeros(32, np.uint64),)).assembled


def test_where_the_code_does_not_tell_the_requests_are_fewer(monkeypatch, arrays):
    found = profile(raw("rows"), 1, 32, arrays, device="A100")
    rows = [Accesses((7,), "shared", "load", {4: 4}, {16: 1, 4: 3}, ("LDS.128", "LDS"))]
    monkeypatch.setattr("vgpu.tools.assembled.accesses", lambda *asked: rows)
    assert [row.requests for row in found.assembled] == [None]
    assert any("4 requests (fewer in machine code)" in line for line in found.summary)


def test_a_note_names_three_differences_and_counts_those_beyond(monkeypatch):
    rows = [
        Accesses((4,), "local", "store", {}, {4: 2}, ("STL",)),
        Accesses((5, 6), "shared", "load", {4: 4}, {16: 1}, ("LDS.128",)),
        *(Accesses((line,), "const", "load", {4: 1}, {}) for line in (7, 8)),
    ]
    lines = {5: {"shared_load_requests": 4}, 6: {"shared_load_requests": 8}}
    lines |= {line: {"constant_load_requests": 1} for line in (7, 8)}
    monkeypatch.setattr("vgpu.tools.assembled.accesses", lambda *asked: rows)
    counted = SimpleNamespace(total=dict.fromkeys(_MAY_DIFFER, 1), lines=lines)
    assert note(None, counted, "sm_80") == (
        "machine code (sm_80): line 4: spilled registers, 2 local stores that are not counted (STL); "
        "lines 5, 6: 4 shared loads are 1 (LDS.128), so 3 requests, 12 counted; "
        "line 7: operands of other instructions, no constant load, 1 counted; "
        "1 more, which sass(…) shows; wavefronts are counted for the accesses in PTX"
    )


def instruction(opcode, operands):
    return MachineInstruction(0, "", opcode, operands, (), "k")


def test_a_wide_load_fills_several_registers():
    code = [instruction("LDG.E.128", "R4, [R2]"), instruction("FADD", "R0, R7, R7"), instruction("LDG.E", "R8, [R2]")]
    assert loads_in_flight(code) == 1 and loads_in_flight([code[0], code[2]]) == 2


def test_loads_of_matrices_from_global_memory_may_be_merged_too():
    x, out = cp.ones(512, np.float16), cp.zeros(256, np.float32)
    words = "machine code (sm_80): line 32: 8 global loads are 4 (LDG.E), so 4 requests, 8 counted"
    assert profile(raw("product"), 1, 32, (x, out), device="A100").machine_note == words


def test_nothing_is_said_where_nothing_differs(arrays, monkeypatch):
    assert profile(scale, 1, 128, arrays).machine_note == ""
    found = profile(raw("rows"), 1, 32, arrays)

    def missing(*_):
        raise Unsupported("ptxas is not installed here")

    monkeypatch.setattr("vgpu.tools.assembled.machine_code", missing)
    assert found.machine_note == "machine code (sm_80) not compared: ptxas is not installed here"
