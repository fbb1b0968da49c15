"""A kernel that was taken elsewhere does, costs and is blamed for what it did, cost and was blamed for at home."""

import base64
import json
import zlib

import numpy as np
import pytest

from helpers.checking.kernel_as_json import MOST_PTX, NotPortable, Portable, packed
from vgpu.base.errors import ArgumentError, OutOfBounds, Unsupported
from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda as cuda
from vgpu.tools.profile import profile
from vgpu.tools.sanitize import sanitize

N = 100


def taken_elsewhere(kernel, args) -> Portable:
    return Portable.from_json(json.loads(json.dumps(packed(kernel, args).as_json())))


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@cuda.jit
def racy(a, x, y):
    s = cuda.shared.array(32, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < x.size:
        s[t] = a * x[i]
        y[i] = s[31 - t]


@cuda.jit
def unguarded(a, x, y):
    i = cuda.grid(1)
    y[i] = a * x[i]


SAXPY_C = r"""
__constant__ float scale[2];
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += scale[1] * a * x[i];
}
"""


def arguments():
    return np.float32(2), cp.arange(N, dtype=cp.float32), cp.ones(N, dtype=cp.float32)


def test_a_numba_kernel_gives_the_same_result_and_counts():
    here, there = arguments(), arguments()
    elsewhere = taken_elsewhere(saxpy, here)
    saxpy[4, 32](*here)
    elsewhere((4,), (32,), there)
    assert (here[2].get() == there[2].get()).all()
    mine, its = (profile(kernel, 4, 32, arguments()) for kernel in (saxpy, elsewhere))
    assert mine.total == its.total and mine.registers == its.registers
    assert [(line.number, line.source, dict(line.counts)) for line in mine.lines] == [
        (line.number, line.source, dict(line.counts)) for line in its.lines
    ]


def test_a_raw_kernel_brings_the_variables_that_the_host_has_set():
    module = cp.RawModule(code=SAXPY_C)
    kernel = module.get_function("saxpy")
    cp.ndarray(2, cp.float32, module.get_global("scale"))[:] = cp.asarray([0, 3], cp.float32)
    args = (*arguments(), np.int32(N))
    elsewhere = taken_elsewhere(kernel, args)
    assert set(elsewhere.variables) == {"scale"}
    elsewhere((4,), (32,), args)
    assert (args[2].get() == 1 + 6 * np.arange(N)).all()


def test_the_sanitizer_names_the_same_lines():
    mine, its = (sanitize(kernel, 4, 32, arguments()) for kernel in (racy, taken_elsewhere(racy, arguments())))
    assert [(f.kind, f.line, f.source) for f in mine.errors] == [(f.kind, f.line, f.source) for f in its.errors]
    assert its.errors


def test_a_fault_names_the_line_of_its_author_and_the_array():
    with pytest.raises(OutOfBounds, match=r"at `x\[100\]`.*\n.*y\[i\] = a \* x\[i\]"):
        taken_elsewhere(unguarded, arguments())((4,), (32,), arguments())


def test_limits_that_the_author_set_go_along():
    limited = cuda.jit(max_registers=32)(saxpy.py_func)
    assert taken_elsewhere(limited, arguments()).kernel.max_registers == 32


@pytest.mark.parametrize(
    ("bounds", "options"), [("", ("-maxrregcount=24",)), ("__launch_bounds__(1024, 2)", ()), ("", ())]
)
def test_the_compilers_numbers_go_along(bounds, options):
    code = f"""extern "C" __global__ void {bounds} held(float* x) {{
        float v[48];
        #pragma unroll
        for (int k = 0; k < 48; ++k) v[k] = x[threadIdx.x + k * 32];
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 48; ++k) x[threadIdx.x + (47 - k) * 32] = v[k];
    }}"""
    kernel, args = cp.RawKernel(code, "held", options), (cp.zeros(48 * 32, cp.float32),)
    mine, its = (profile(each, 1, 32, args) for each in (kernel, taken_elsewhere(kernel, args)))
    for gpu in ("T4", "A100", "H100"):
        assert its.on(gpu).resources == mine.on(gpu).resources
    assert (its.on("A100").resources.spill_store_bytes > 0) is bool(bounds or options)


def test_nothing_says_where_the_source_lay():
    held = packed(saxpy, arguments())
    assert "/" not in "".join(line for line in held.ptx.splitlines() if ".file" in line)
    assert held.entry == "saxpy"


def test_other_arguments_than_it_was_compiled_for_are_refused():
    elsewhere = taken_elsewhere(saxpy, arguments())
    with pytest.raises(ArgumentError, match="float64"):
        elsewhere((4,), (32,), (np.float32(2), cp.arange(N, dtype=cp.float64), cp.ones(N, dtype=cp.float32)))
    with pytest.raises(ArgumentError, match="3 arguments"):
        elsewhere((4,), (32,), arguments()[:2])


@pytest.mark.parametrize("thing", [None, print, 3])
def test_only_kernels_are_taken(thing):
    with pytest.raises(Unsupported):
        packed(thing, ())


def squeezed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode()


CHANGES = {
    "a name that is none": lambda data: data.update(entry="a b"),
    "no base64": lambda data: data.update(ptx="@@"),
    "no zlib": lambda data: data.update(ptx="AAAA"),
    "a bomb": lambda data: data.update(ptx=squeezed("a" * (MOST_PTX + 9))),
    "cut off": lambda data: data.update(ptx=base64.b64encode(base64.b64decode(data["ptx"])[:-9]).decode()),
    "not ASCII": lambda data: data.update(ptx=squeezed("é")),
    "another language": lambda data: data.update(language="triton"),
    "a type that is none": lambda data: data.update(types=["__import__('os')"]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_no_portable_kernel_is_refused(change):
    data = packed(saxpy, arguments()).as_json()
    change(data)
    with pytest.raises(NotPortable):
        Portable.from_json(data)


def test_ptx_without_the_kernel_is_refused_when_it_is_used():
    data = packed(saxpy, arguments()).as_json() | {"entry": "other"}
    with pytest.raises(NotPortable, match="no kernel 'other'"):
        Portable.from_json(data)((4,), (32,), arguments())


REMEMBERS = r"""
__device__ int launches = 5;
__device__ int* kept;
extern "C" __global__ void count(int* out) {
    out[0] = launches++;
    out[1] = kept ? *kept : -7;
    kept = (int*)malloc(4);
    *kept = 30 + out[0];
}
"""


def test_what_launches_leave_behind_is_forgotten_where_it_is_asked_for():
    out = cp.zeros(2, dtype=cp.int32)
    there = taken_elsewhere(cp.RawKernel(REMEMBERS, "count"), (out,))
    seen = []
    for forget in (False, False, True, False):
        if forget:
            there.forget()
        there((1,), (1,), (out,))
        seen.append(out.get().tolist())
    assert seen == [[5, -7], [6, 35], [5, -7], [6, 35]]
