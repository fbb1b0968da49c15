"""What the compiler or the engine refuses, in words that name the line and a way round."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.base.errors import Unsupported, VirtualGPUError
from vgpu.standins import cupy as cp

f4 = np.float32


def refusal(body: str, before: str = "", error=VirtualGPUError) -> str:
    """What a user is told who launches a kernel of one array `x` with this body on its fourth line."""
    source = f'{before}\n\nextern "C" __global__ void k(float* x) {{\n{body}\n}}'
    with pytest.raises(error) as raised:
        cp.RawKernel(source, "k")((1,), (32,), (cp.zeros(64, f4),))
    return str(raised.value)


REFUSED = {
    "cube_map": ("x[0] = texCubemap<float>((cudaTextureObject_t)x, 0, 0, 1);", "", "texture", "layered"),
    "sparse_matrices": (
        'float f = 0; unsigned r = 0; asm("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %0, %0, %0}, '
        '{%1, %1}, {%1, %1}, {%0, %0, %0, %0}, %1, 0;" : "+f"(f) : "r"(r)); x[0] = f;',
        "", "sparse", "dense",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_missing_is_named_with_its_line_and_a_way_round(name):
    body, before, *words = REFUSED[name]
    told = refusal(body, before, Unsupported)
    for word in (*words, "line 4"):
        assert word in told


def test_a_barrier_for_the_whole_grid_needs_a_cooperative_launch():
    told = refusal("cooperative_groups::this_grid().sync(); x[0] = 1;", "#include <cooperative_groups.h>")
    assert "trap" in told and "enable_cooperative_groups=True" in told and "line 4" in told


def test_fixed_shared_arrays_end_at_48_kib():
    told = refusal("__shared__ float s[13000]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[31 - threadIdx.x];")
    assert "52000 bytes" in told and "49152" in told and "dynamic" in told


def test_a_shared_array_is_named_when_it_is_left():
    told = refusal("__shared__ float s[32]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[threadIdx.x + 1];")
    assert "`s` has bytes 0 to 127" in told and "thread (31)" in told and "line 4" in told


@pytest.mark.parametrize(
    ("include", "says"),
    [("stdio.h", "Remove this line"), ("vector", "arrays and loops"), ("curand_kernel.h", "cp.random"),
     ("stdint.h", "cuda/std/cstdint")],
)  # fmt: skip
def test_headers_of_the_host_are_told_apart(include, says):
    assert says in refusal("x[0] = 1;", f"#include <{include}>")


def test_a_launch_inside_the_source_belongs_to_python():
    assert "launched from Python" in refusal("x[0] = 1;", "__global__ void f(); void run() { f<<<1, 1>>>(); }")


def test_arguments_without_their_tuple():
    x = cp.zeros(4, f4)
    kernel = cp.RawKernel('extern "C" __global__ void k(float* x, int n) { x[0] = n; }', "k")
    with pytest.raises(TypeError, match="one tuple"):
        kernel((1,), (1,), x, 1)


def test_launches_by_kernels_are_refused_in_words():
    source = """
        __global__ void child(int* out) { *out = 1; }
        extern "C" __global__ void k(int* out) { child<<<1, 1>>>(out); }"""
    with pytest.raises(VirtualGPUError, match="launch"):
        cp.RawKernel(source, "k", options=("-rdc=true",))((1,), (1,), (cp.zeros(1, np.int32),))
