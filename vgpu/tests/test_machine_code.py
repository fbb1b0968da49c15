"""Machine code read by source line, and what the assembler makes of accesses to memory, for the pinned assembler."""

import importlib
import re
import sys

import pytest

from vgpu.base.errors import CompileError, Unsupported
from vgpu.compile import cuda_c_to_ptx, machine_code, resources
from vgpu.compile.cuda_c import nvrtc
from vgpu.compile.machine_code import listing, program, read, registers, versions
from vgpu.launch import launch
from vgpu.tools.assembled import Accesses, accesses

SOURCE = """#include <cuda_fp16.h>
extern "C" __global__ void plain(const float* x, float* y) {
    __shared__ float t[64];
    t[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = t[63 - threadIdx.x];
}
extern "C" __global__ void merged(const float* x, float* y) {
    __shared__ float t[32][4];
    t[threadIdx.x][0] = x[threadIdx.x];
    t[threadIdx.x][1] = 1;
    t[threadIdx.x][2] = 2;
    t[threadIdx.x][3] = 3;
    __syncthreads();
    int i = threadIdx.x ^ 1;
    y[threadIdx.x] = t[i][0] + t[i][1] + t[i][2] + t[i][3];
}
extern "C" __global__ void tile(const float* x, float* y) {
    __shared__ float a[16][16], b[16][16];
    a[threadIdx.y][threadIdx.x] = b[threadIdx.y][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 16; ++k)
        sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    y[threadIdx.x] = sum;
}
extern "C" __global__ void loop(const float* x, float* y, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
        sum += x[i];
    y[threadIdx.x] = sum;
}
extern "C" __global__ void local(const float* x, float* y) {
    float r[4];
    for (int i = 0; i < 4; ++i)
        r[i] = x[i];
    float sum = 0;
    #pragma unroll 1
    for (int i = 0; i < 4; ++i)
        sum = 2 * sum + r[i ^ 1];
    y[threadIdx.x] = sum;
}
__constant__ float table[64];
extern "C" __global__ void constant(float* y) {
    y[threadIdx.x] = table[5] + table[threadIdx.x];
}
extern "C" __global__ void atomics(unsigned long long* y) {
    __shared__ unsigned long long most, turn;
    atomicMax(&most, y[threadIdx.x]);
    y[threadIdx.x] = atomicCAS(&turn, 1ull, 2ull);
}
__device__ float twice(float x) {
    return x + x;
}
extern "C" __global__ void halves(const __half* x, __half* y, __half k, float* z) {
    __half a = __hfma(x[2 * threadIdx.x], k, k), b = __hfma(x[2 * threadIdx.x + 1], k, k);
    y[2 * threadIdx.x] = a;
    y[2 * threadIdx.x + 1] = b;
    z[threadIdx.x] = twice(z[threadIdx.x + 1]);
}
"""
PTX = cuda_c_to_ptx(SOURCE, name="kernel.cu").ptx
KERNELS = launch.load(PTX, language="cuda", filename="kernel.cu", source=SOURCE)


def found(name: str, arch: str = "sm_80") -> dict:
    """What became of a kernel's accesses, by lines, memory and operation: both sides' widths, verdict, factor."""
    rows = accesses(KERNELS[name], arch)
    return {(row.lines, row.space, row.op): (row.ptx, row.machine, row.verdict, row.factor) for row in rows}


def code(name: str, arch: str = "sm_80"):
    return machine_code(PTX, arch, name)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the assembler is of another package and release")
def test_the_assembler_is_the_one_that_these_tests_know():
    assert versions() == "ptxas V13.1.80, nvdisasm V13.1.80"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the assembler is of another package and release")
def test_it_is_what_nvrtc_makes_for_a_gpu(tmp_path):
    """CuPy gives kernels to NVRTC, which has an assembler of its own in it."""
    path = tmp_path / "kernel.cubin"
    path.write_bytes(nvrtc(SOURCE, "kernel.cu", ["--gpu-architecture=sm_80", "-lineinfo"], (), "CUBIN")[0])
    found = read(listing(path))
    assert found.keys() == KERNELS.keys()
    for name in KERNELS:
        assert [i.text for i in found[name]] == [i.text for i in code(name)]


def test_instructions_have_their_place_guard_operands_and_line():
    first, *_, last = code("plain")
    assert (first.address, first.text, first.line("kernel.cu")) == (0, "IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]", 2)
    assert (last.text, last.line("kernel.cu"), last.access) == ("EXIT", 7, None)
    accessing = [(i.line("kernel.cu"), i.opcode, i.access) for i in code("plain") if i.access]
    assert accessing == [
        (4, "LDG.E", ("global", "load", 4)),
        (4, "STS", ("shared", "store", 4)),
        (6, "LDS", ("shared", "load", 4)),
        (6, "STG.E", ("global", "store", 4)),
    ]
    backwards = [i for i in code("loop") if i.opcode == "BRA" and i.predicate]
    targets = [int(i.operands.split("_")[1].rstrip(")"), 16) for i in backwards]
    assert targets and set(targets) <= {i.address for i in code("loop")}


def test_ptx_labelled_with_a_later_release_is_read_as_long_as_that_works():
    later = re.sub(r"(?m)^\.version .*$", ".version 9.9", PTX)
    assert [i.text for i in machine_code(later, "sm_80", "plain")] == [i.text for i in code("plain")]


def test_registers_are_those_of_this_code_and_keep_to_a_limit():
    assert [registers(PTX, "sm_80", name) for name in ("plain", "merged", "tile")] == [12, 16, 30]
    assert registers(PTX, "sm_80", "tile", 24) == 24


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_a_profile_has_the_registers_of_the_whole_program(arch):
    """Assembled to be linked with more, `merged` would have 17 on sm_80, since none of its accesses are merged."""
    found = {name: resources(PTX, "ptx", arch, name).registers for name in KERNELS}
    assert found == {name: registers(PTX, arch, name) for name in KERNELS}


def test_inlined_code_belongs_to_the_innermost_line_of_the_users():
    (added,) = [i for i in code("halves") if i.opcode == "FADD"]
    assert added.frames == (("kernel.cu", 53), ("kernel.cu", 59))
    assert added.line("kernel.cu") == 53 and added.line("other.cu") is None


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_what_nothing_is_done_to(arch):
    assert {row[2:] for row in found("plain", arch).values()} == {("same", 1.0)}
    assert [key[0] for key in found("plain", arch)] == [(4,), (4,), (6,), (6,)]


def test_neighbours_are_merged_within_a_line_and_over_lines():
    rows = found("merged")
    assert rows.pop(((16,), "shared", "load")) == ({4: 4}, {16: 1}, "merged", 0.25)
    assert rows.pop(((10, 11, 12, 13), "shared", "store")) == ({4: 4}, {16: 1}, "merged", 0.25)
    assert {row[2] for row in rows.values()} == {"same"}
    assert {i.opcode for i in code("merged") if i.access and i.access[0] == "shared"} == {"LDS.128", "STS.128"}


def test_a_line_may_be_merged_in_part():
    assert found("tile")[(24,), "shared", "load"] == ({4: 32}, {4: 16, 16: 4}, "merged", 0.625)


def test_unrolling_copies_accesses_and_changes_no_count():
    ptx, machine, verdict, factor = found("loop")[(30,), "global", "load"]
    assert (ptx, set(machine), verdict, factor) == ({4: 5}, {4}, "copied", 1.0)
    assert machine[4] > 5


def test_an_array_that_ends_up_in_registers():
    assert found("local")[(40,), "local", "load"] == ({4: 1}, {}, "gone", 0.0)


def test_constants_become_operands_on_some_gpus():
    assert found("constant")[(45,), "const", "load"] == ({4: 2}, {4: 1}, "fewer", None)
    assert found("constant", "sm_120")[(45,), "const", "load"] == ({4: 2}, {4: 2}, "same", 1.0)


def test_an_atomic_that_shared_memory_does_not_have_becomes_a_loop():
    rows = found("atomics")
    assert rows[(49,), "shared", "atomic"][2:] == ("loop", None)
    assert rows[(50,), "shared", "atomic"][2:] == ("same", 1.0)
    assert ((49,), "shared", "load") not in rows


def test_two_operations_on_halves_become_one():
    assert PTX.count("fma.rn.f16 ") == 2
    assert [i.line("kernel.cu") for i in code("halves") if i.opcode == "HFMA2" and "H0_H0" in i.operands] == [56]


@pytest.mark.parametrize(
    ("ptx", "machine", "together", "verdict", "factor"),
    [
        ({4: 4}, {8: 2}, False, "merged", 0.5),
        ({4: 5}, {16: 7, 4: 1}, True, "merged", None),  # unrolled, too: nobody knows how often each runs
        ({4: 8}, {16: 1, 4: 4}, False, "merged", None),
        ({8: 4}, {4: 8}, True, "fewer", None),
        ({}, {4: 2}, False, "added", None),
        ({4: 3}, {4: 2}, True, "fewer", None),
    ],
)
def test_what_reading_the_code_can_tell(ptx, machine, together, verdict, factor):
    row = Accesses((1,), "shared", "load", ptx, machine, together=together)
    assert (row.verdict, row.factor) == (verdict, factor)


def test_what_cannot_be_assembled_or_read_is_told(monkeypatch, root):
    with pytest.raises(KeyError, match="no kernel 'nobody' in this code, only plain"):
        code("nobody")
    with pytest.raises(CompileError, match="take sm_75 instead"):
        code("plain", "sm_70")
    with pytest.raises(CompileError, match=r"ptxas refused this kernel \(-arch=sm_80\):\nptxas"):
        machine_code(PTX.replace("st.shared.f32", "st.shared.nonsense"), "sm_80", "plain")
    module = importlib.import_module("vgpu.compile.machine_code")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    monkeypatch.setattr("cuda.pathfinder.find_nvidia_binary_utility", lambda name: None)
    packages = "nvidia-cuda-nvcc", "nvidia-cuda-nvdisasm"
    pins = (root / "constraints.txt").read_text(encoding="utf-8")
    for name, package in zip(("ptxas", "nvdisasm"), packages, strict=True):
        with pytest.raises(Unsupported, match=f"{name} is not installed.*pip install {' '.join(packages)}$"):
            program.__wrapped__(name)
        assert f"{package}==" in pins
