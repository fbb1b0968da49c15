"""`elect.sync`, the words of `redux.sync`, and `griddepcontrol`: guards, masks, and forms that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.base.errors import Unsupported
from vgpu.ptx import PTXSyntaxError
from vgpu.tests.test_narrow_formats import checked

ELECT = """extern "C" __global__ void k(unsigned* out, unsigned mask) {
    unsigned r = 77, p = 0, q = 0;
    asm volatile("{ .reg .pred e, g; setp.ge.u32 g, %3, 5; setp.ne.u32 e, 0, 0; @g elect.sync %0|e, %2; "
                 "selp.u32 %1, 1, 0, e; }" : "+r"(r), "=r"(p) : "r"(0xFFFFFFE0), "r"(threadIdx.x));
    if (mask >> threadIdx.x & 1)
        asm volatile("{ .reg .pred e; elect.sync _|e, %1; selp.u32 %0, 1, 0, e; }" : "=r"(q) : "r"(mask));
    out[threadIdx.x] = r; out[32 + threadIdx.x] = p; out[64 + threadIdx.x] = q;
}"""


def test_the_lowest_lane_of_a_mask_is_elected(engine):
    """Lanes whose guard is off, and those that don't come, keep what they have."""
    out = np.zeros(96, np.uint32)
    engine.c(ELECT, arch="compute_90")(1, 32, out, np.uint32(0x00F0F0F0))
    lane = np.arange(32)
    assert out[:32].tolist() == [77] * 5 + [5] * 27
    assert (out[32:64] == (lane == 5)).all() and (out[64:] == (lane == 4)).all()


DEPENDENT = """#include <cuda_device_runtime_api.h>
extern "C" __global__ void k(int* x) {
    cudaGridDependencySynchronize();
    x[threadIdx.x] += 1;
    cudaTriggerProgrammaticLaunchCompletion();
}"""


def test_the_runtimes_functions_for_dependent_launches(engine):
    x = np.zeros(32, np.int32)
    engine.c(DEPENDENT, arch="compute_90")(1, 32, x)
    assert (x == 1).all()


@pytest.mark.parametrize(
    "body",
    [
        "elect.sync %r0, %r1", "elect.sync %r0|_, %r1", "elect.sync _, %r1", "elect.sync.aligned %r0|%p0, %r1",
        "elect %r0|%p0, %r1", "redux.sync.add.f32 %f0, %f1, %r1", "redux.sync.max.abs.s32 %r0, %r1, %r2",
        "redux.sync.and.u32 %r0, %r1, %r2", "redux.sync.min.b32 %r0, %r1, %r2", "redux.sync.add.NaN.f32 %f0, %f1, %r1",
        "redux.sync.min.max.f32 %f0, %f1, %r1", "griddepcontrol", "griddepcontrol.wait.launch_dependents",
        "griddepcontrol.wait %r0",
    ],
)  # fmt: skip
def test_forms_that_the_manual_has_not_are_refused(body):
    with pytest.raises((PTXSyntaxError, Unsupported)):
        checked("sm_100a", body + ";")


@pytest.mark.parametrize(
    "body", ["redux.sync.max.abs.NaN.f32 %f0, %f1, %r1", "redux.sync.xor.b32 %r0, %r1, %r2", "elect.sync _|%p0, -1",
             "griddepcontrol.wait", "griddepcontrol.launch_dependents"],
)  # fmt: skip
def test_forms_that_it_has(body):
    checked("sm_100a", body + ";")
