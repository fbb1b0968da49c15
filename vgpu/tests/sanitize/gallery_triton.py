"""Mistakes in Triton's kernels."""

from __future__ import annotations

import inspect

from vgpu.standins import cupy as cp
from vgpu.standins import triton as stand_in
from vgpu.tools.sanitize import sanitize

triton = stand_in.activate()

import triton.language as tl  # noqa: E402


@triton.jit
def add(x, y, out, n, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MASKED:
        inside = at < n
        tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)
    else:
        both = tl.load(x + at) + tl.load(y + at)  #!
        tl.store(out + at, both)  #!


def run(wrong):
    x, y, out = (cp.ones(300, cp.float32) for _ in range(3))
    return sanitize(add, (3,), None, (x, y, out, 300), MASKED=not wrong, BLOCK=128)


lines, first = inspect.getsourcelines(add.fn)
CASES = [("load_and_store_without_a_mask", "out_of_bounds", run, "".join(lines), first)]
