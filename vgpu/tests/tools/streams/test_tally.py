"""What a program's kernels do, added up: launches, bytes of sectors and FLOPs, each worked out by hand."""

import re

import numpy as np
import pytest

from vgpu import cp, cuda, streams

TWICE = cp.RawKernel(
    'extern "C" __global__ void twice(const float* x, float* y) {'
    " int i = blockIdx.x * 64 + threadIdx.x; y[i] = 2 * x[i]; }",
    "twice",
)


@cuda.jit
def add(x, y):
    i = cuda.grid(1)
    y[i] = y[i] + x[i]


def program(rounds):
    x, y = (cp.zeros(256, dtype="float32") for _ in range(2))
    for _ in range(rounds):
        TWICE((4,), (64,), (x, y))
        add[4, 64](x, y)


def test_launches_bytes_and_flops_are_added_up_by_kernel():
    found = streams.tally(program, 3)
    row = found["twice"]
    assert (row.launches, row.loaded, row.stored, row.flops) == (3, 3 * 1024, 3 * 1024, 3 * 256)
    assert (found["add"].launches, found["add"].loaded) == (3, 3 * 2048)
    assert (found.launches, found.nbytes, found.flops) == (6, 3 * 5 * 1024, 3 * 512)
    assert [row.name for row in found.rows] == ["twice", "add"]
    heads, _, *_, last = (re.split(r"\s{2,}", line) for line in repr(found).splitlines())
    assert dict(zip(heads, last, strict=True)) == {
        "kernel": "in all", "launches": "6", "bytes loaded": "9,216", "bytes stored": "6,144", "FLOPs": "1,536",
    }  # fmt: skip
    assert "6 launches" in found._repr_html_()


def test_flops_of_every_precision_count():
    source = """#include <cuda_fp16.h>
    extern "C" __global__ void mixed(__half* h, float* f, double* d) { *h = __hadd(*h, *h); *f *= 3; *d += 1; }"""
    arrays = [cp.zeros(1, dtype) for dtype in ("float16", "float32", "float64")]
    assert streams.tally(lambda: cp.RawKernel(source, "mixed")((1,), (1,), arrays))["mixed"].flops == 3


def test_a_kernel_that_was_not_launched_and_a_program_without_any():
    with pytest.raises(KeyError, match="no kernel 'half' was launched; there are twice, add"):
        streams.tally(program, 1)["half"]
    with pytest.raises(ValueError, match="launches no kernel"):
        streams.tally(lambda: cp.asarray(np.ones(4, np.float32)))
