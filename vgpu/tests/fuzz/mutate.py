"""PTX that compilers wrote, damaged at random: whatever comes of it, the process lives and the error is one of ours."""

from __future__ import annotations

import random
import re
from functools import cache

from vgpu.compile import cuda_c_to_ptx
from vgpu.tests import random_kernels

_TOKEN = re.compile(r"\s+|[%$\w.:]+|[^\s\w]")
_NUMBERS = ("0", "1", "-1", "3", "7", "32", "255", "4096", "65536", "2147483647", "4294967295", "-9223372036854775808",
            "18446744073709551615", "0f7FC00000", "0f00000001", "0d7FF0000000000000")  # fmt: skip

# Source texts that between them use most kinds of instruction; the kernel takes two pointers and a number.
SOURCES = (
    """extern "C" __global__ void k(const unsigned* in, unsigned* out, unsigned n) {
        __shared__ unsigned tile[128]; unsigned t = threadIdx.x; tile[t] = in[t & 63]; __syncthreads();
        for (unsigned s = 32; s > 0; s >>= 1) { if (t < s) tile[t] += tile[t + s]; __syncthreads(); }
        atomicAdd(&out[blockIdx.x], tile[0]); atomicMax((int*)&out[8], (int)t); atomicCAS(&out[9], 0u, t); }""",
    """extern "C" __global__ void k(const float* in, float* out, unsigned n) {
        float local[8]; double d = 0; unsigned t = threadIdx.x;
        for (int i = 0; i < 8; i++) local[i] = in[(t + i) & 63];
        for (unsigned i = 0; i < n; i++) { local[(i + t) & 7] += sinf(local[i & 7]); d += sqrt((double)local[t & 7]); }
        out[t] = local[t & 7] + (float)d / 3.0f + __fdividef(1.f, local[1]) + exp2f(local[2]); }""",
    """extern "C" __global__ void k(const uint4* in, uint4* out, unsigned n) {
        unsigned t = threadIdx.x; uint4 v = in[t & 15]; unsigned long long w = v.x * (unsigned long long)v.y;
        v.x = __shfl_xor_sync(~0u, v.x, 3); v.y = __ballot_sync(~0u, v.y & 1); v.z = __popc(v.z) + __clz(v.w);
        v.w = __brev(v.w) ^ (unsigned)(w / (n + 1)); if (t & 4) v.x = __activemask();
        if (n == 77) printf("%u %f\\n", v.x, 1.5); out[t & 15] = v; }""",
    """#include <cuda_fp16.h>
    __device__ __noinline__ float twice(float x, int i) { return i > 3 ? x + x : x * 3.0f; }
    extern "C" __global__ void k(const __half2* in, __half2* out, unsigned n) {
        unsigned t = threadIdx.x; __half2 a = in[t & 63], b = in[(t + 1) & 63];
        out[t & 63] = __hfma2(a, b, __float2half2_rn(twice(__low2float(a), t))); }""",
)  # fmt: skip


@cache
def corpus() -> tuple[str, ...]:
    """PTX texts with one kernel `k(in, out, n)` each."""
    written = [cuda_c_to_ptx(source).ptx for source in SOURCES]
    return tuple(written + [cuda_c_to_ptx(random_kernels.source(seed)).ptx for seed in range(4)])


def mutated(seed: int) -> str:
    """One of the texts with a few tokens or lines changed, or a little noise."""
    chance = random.Random(seed)
    text = chance.choice(corpus())
    if chance.random() < 0.1:
        return _noise(chance, text)
    if chance.random() < 0.4:
        return _lines(chance, text)
    return _tokens(chance, text)


def _noise(chance: random.Random, text: str) -> str:
    raw = bytearray(text.encode())
    for _ in range(chance.choice((1, 3, 30))):
        raw[chance.randrange(len(raw))] = chance.randrange(256)
    if chance.random() < 0.3:
        raw = raw[: chance.randrange(len(raw))]
    return raw.decode("latin-1")


def _lines(chance: random.Random, text: str) -> str:
    lines = text.split("\n")
    for _ in range(chance.choice((1, 2, 4))):
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        change = chance.randrange(3)
        if change == 0:
            del lines[at]
        elif change == 1:
            lines.insert(at, lines[other])
        else:
            lines[at], lines[other] = lines[other], lines[at]
    return "\n".join(lines)


def _tokens(chance: random.Random, text: str) -> str:
    tokens = _TOKEN.findall(text)
    body = next((i for i, token in enumerate(tokens) if token == "{"), 0)
    solid = [i for i, token in enumerate(tokens) if not token.isspace() and (i > body or chance.random() < 0.05)]
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.choice(solid)
        token = tokens[at]
        change = chance.random()
        if re.fullmatch(r"-?\d+|0[fdx]\w+", token) and change < 0.7:
            tokens[at] = chance.choice(_NUMBERS)
        elif "." in token and change < 0.5:
            parts = token.split(".")
            donor = chance.choice([t for t in (tokens[i] for i in solid) if "." in t]).split(".")
            parts[chance.randrange(len(parts))] = chance.choice(donor)
            tokens[at] = ".".join(parts)
        elif change < 0.8:
            tokens[at] = tokens[chance.choice(solid)]
        elif change < 0.9:
            tokens[at] = ""
        else:
            tokens[at] = token + " " + tokens[chance.choice(solid)]
    return "".join(tokens)


@cache
def words() -> tuple[str, ...]:
    """All tokens of the texts."""
    return tuple(sorted({token for text in corpus() for token in _TOKEN.findall(text) if not token.isspace()}))
