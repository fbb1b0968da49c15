"""Where variables live: declarations are read from the source, memories from the PTX and the assembler's report."""

from types import SimpleNamespace

import numpy as np
import pytest

from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda as cuda
from vgpu.tools.steps import declared
from vgpu.tools.steps.spaces import SPACES, spaces

TABLE = np.arange(32, dtype=np.float32)
SOURCE = r"""
__constant__ float fixed[2] = {3, 4};
__constant__ int unused[8];
__device__ int helper(int a) { int inner = a; return inner + 1; }
extern "C" __global__ void many(const float* __restrict__ x, const int* which, float* out, int n, float scale) {
    __shared__ float tile[32];
    extern __shared__ float rest[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;  // a comment; float ghost[4];
    float mine[64], few[2];
    for (int k = 0; k < 64; ++k) mine[k] = x[(i + k) % n];
    few[0] = x[i];
    few[1] = 2 * few[0];
    tile[t] = few[0] + few[1];
    rest[t] = scale;
    __syncthreads();
    unsigned long long far = which[i] & 63;
    const float *p = x + 1, sum = p[0];
    out[i] = mine[far] + tile[31 - t] + rest[31 - t] + fixed[which[i] & 1] + sum;
}
"""


@cuda.jit
def python_kernel(x, which, out, scale):
    tile, mine = cuda.shared.array(32, np.float32), cuda.local.array(64, np.float32)
    fixed = cuda.const.array_like(TABLE)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    for k in range(64):
        mine[k] = x[(i + k) % 32]
    cuda.syncthreads()
    out[i] = tile[31 - i] + mine[which[i] % 64] + fixed[which[i]] * scale


@pytest.fixture
def arrays():
    return cp.arange(64, dtype="float32"), cp.arange(32, dtype="int32"), cp.zeros(32, "float32")


def told(found):
    return {variable.name: variable.space for variable in found.variables}


def test_every_declaration_of_cuda_c_is_found():
    kernel = SimpleNamespace(language="cuda", name="many", source=SOURCE.split("\n"), first_line=1)
    found = {each.name: each.kind for each in declared.read(kernel).declared}
    assert found == {
        "x": "parameter", "which": "parameter", "out": "parameter", "n": "parameter", "scale": "parameter",
        "fixed": "constant array", "tile": "shared array", "rest": "shared array", "t": "variable", "i": "variable",
        "mine": "array", "few": "array", "k": "variable", "far": "variable", "p": "variable", "sum": "variable",
    }  # fmt: skip
    lines = {each.name: each.lines for each in declared.read(kernel).declared}
    assert lines["few"] == (9, 11, 12, 13)
    assert 8 in lines["i"] and lines["tile"] == (6, 13, 18)


def test_memories_of_a_kernel_in_cuda_c(arrays):
    x, which, out = arrays
    args = (x, which, out, np.int32(64), np.float32(2))
    found = spaces(cp.RawKernel(SOURCE, "many"), 1, 32, args, shared_bytes=128)
    assert told(found) == {
        "x": "global", "which": "global", "out": "global", "n": "parameter", "scale": "parameter",
        "fixed": "constant", "tile": "shared", "rest": "shared", "mine": "local", "few": "register",
        **dict.fromkeys(("t", "i", "k", "far", "p", "sum"), "register"),
    }  # fmt: skip
    assert (found["tile"].nbytes, found["rest"].nbytes, found["fixed"].nbytes) == (128, 128, 8)
    assert found["x"].note == "read-only loads (.nc)" and found["which"].note == ""
    assert all(".local" in text for text in found["mine"].evidence)
    assert found["scale"].evidence[0].startswith("ld.param") and "parameter 4" in found["scale"].evidence[0]
    assert set(told(found).values()) <= set(SPACES)
    assert not out.get().any()  # what the kernel writes does not stay


def test_memories_of_a_kernel_in_python(arrays):
    x, which, out = arrays
    found = spaces(python_kernel, 1, 32, (x, which, out, np.float32(2)))
    assert told(found) == {
        "x": "global", "which": "global", "out": "global", "scale": "parameter", "tile": "shared", "mine": "local",
        "fixed": "constant", "i": "register", "k": "register",
    }  # fmt: skip
    assert (found["mine"].nbytes, found["fixed"].nbytes, found.resources.local_bytes) == (256, 128, 256)
    assert "ld.const" in found["fixed"].evidence[0] and "parameter 21" in found["scale"].evidence[0]


@pytest.mark.parametrize(
    ("length", "index", "space", "note"),
    [
        (4, "1", "register", "every index is known when it is compiled"),
        (4, "k", "register", "local in the PTX; the assembler moved it to registers"),
        (4, "which[i] & 3", "register", "local in the PTX; the assembler moved it to registers"),
        (64, "which[i] & 63", "local", ""),
    ],
)
def test_the_assembler_has_the_last_word_on_an_array(arrays, length, index, space, note):
    text = r"""extern "C" __global__ void pick(const float* x, const int* which, float* out, int k) {
        float mine[LENGTH];
        int i = threadIdx.x;
        for (int j = 0; j < LENGTH; ++j) mine[j] = x[(i + j) & 63];
        out[i] = mine[INDEX];
    }""".replace("INDEX", index).replace("LENGTH", str(length))
    mine = spaces(cp.RawKernel(text, "pick"), 1, 32, (*arrays, np.int32(2)))["mine"]
    assert (mine.space, mine.note) == (space, note)


def test_a_texture_is_told_by_its_handle(arrays):
    x, which, out = arrays
    texture, runtime = cp.cuda.texture, cp.cuda.runtime
    floats = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    memory = texture.ResourceDescriptor(runtime.cudaResourceTypeLinear, arr=x, chDesc=floats, sizeInBytes=x.nbytes)
    handle = texture.TextureObject(memory, texture.TextureDescriptor())
    text = r"""extern "C" __global__ void fetch(cudaTextureObject_t table, const int* which, float* out) {
        out[threadIdx.x] = tex1Dfetch<float>(table, which[threadIdx.x]);
    }"""
    found = spaces(cp.RawKernel(text, "fetch"), 1, 32, (handle, which, out))
    assert found["table"].space == "texture" and found["table"].evidence[0].startswith("tex.1d")
    with pytest.raises(KeyError, match="declares no 'tables'; it has table, which, out"):
        found["tables"]


def test_an_array_reached_through_a_pointer_is_local(arrays):
    text = r"""__device__ __noinline__ float walk(float* a, int n) {
        for (int j = 0; j < n; ++j) a[a[j] > 0] += j;
        return a[n];
    }
    extern "C" __global__ void lend(const float* x, const int* which, float* out) {
        float mine[4] = {x[0], x[1], x[2], x[3]};
        out[threadIdx.x] = walk(mine, which[threadIdx.x] & 3);
    }"""
    assert spaces(cp.RawKernel(text, "lend"), 1, 32, arrays)["mine"].space == "local"


@cuda.jit(device=True)
def halved(value, least):
    return max(value / 2, least)


@cuda.jit
def with_a_helper(x, out):
    i = cuda.grid(1)
    out[i] = halved(x[i], 1)


def test_a_kernel_that_calls_a_device_function_is_shown_itself(arrays):
    x, _, out = arrays
    found = spaces(with_a_helper, 1, 32, (x, out))
    assert told(found) == {"x": "global", "out": "global", "i": "register"}
    assert found.lines[0][1] == "def with_a_helper(x, out):"


@cuda.jit
def too_far(x):
    i = cuda.grid(1)
    x[i + 100] = i


def test_an_array_that_a_kernel_fails_at_is_not_called_untouched(arrays):
    (x, *_) = arrays
    assert spaces(too_far, 1, 32, (x,))["x"].note == "not touched before the kernel fails"
