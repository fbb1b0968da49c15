"""Kernels that NVIDIA's compilers wrote, line by line and with the registers that `twist` knows by name."""

from __future__ import annotations

import re
from functools import cache

from vgpu.compile import cuda_c_to_ptx
from vgpu.tests.fuzz import mutate

_CALLS = """
struct Five { unsigned a[5]; };
__device__ __noinline__ Five five(Five x, unsigned y) { x.a[y & 3] += y; return x; }
__device__ __noinline__ unsigned deep(unsigned n, unsigned x) { return n == 0 ? x + 1u : deep(n - 1, x * 3u) ^ n; }
extern "C" __global__ void k(const unsigned* in, unsigned* out, unsigned n) {
    unsigned t = threadIdx.x, *p = (unsigned*)malloc(16); Five f; for (int i = 0; i < 5; i++) f.a[i] = in[(t + i) & 63];
    f = five(f, t); out[t] = f.a[n % 5] + deep(t & 3, n); if (p) { p[t & 3] = t; out[t] += p[t & 3]; free(p); } }"""


@cache
def programs() -> tuple[str, ...]:
    """One statement a line, as `pieces` writes them."""
    return tuple(_lines(cuda_c_to_ptx(source).ptx) for source in (*mutate.SOURCES, _CALLS))


def _lines(text: str) -> str:
    text = re.sub(r"//[^\n]*|^\s*\.(?:loc|file|pragma)\s[^\n]*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\.section.*?\n\s*\}", "", text, flags=re.DOTALL)
    text = text.replace("\t", " ").replace("%rd", "%d").replace("%rs", "%h")
    # Statements of several lines, as calls and long initialisers are.
    text = re.sub(r"\s*\n\s*", " ", text)
    text = re.sub(r"([;{}:]) (?=[@.a-z$%{}])", r"\1\n", text)
    text = re.sub(r"\{\n(?=%|_)", "{", text)
    for name, kind, least in (("d", "b64", 32), ("r", "b32", 32), ("p", "pred", 8), ("h", "b16", 8)):
        used = [int(n) for n in re.findall(rf"%{name}(\d+)\b", text)]
        text = re.sub(rf"\.reg \.\w+ %{name}<\d+>;", f".reg .{kind} %{name}<{max([*used, least]) + 1}>;", text)
    return text
