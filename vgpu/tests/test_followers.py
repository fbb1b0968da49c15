"""Accesses of one base at several offsets: the first compares its pattern, the others rely on that."""

import numpy as np
import pytest

from vgpu.standins import cupy as cp
from vgpu.tools.profile import profile

# Each turn reads eight neighbours of an element that `pick` names: the unrolled loads share a base register.
READ = """extern "C" __global__ void read(const int* pick, const float* in, float* out, int turns) {{
    __shared__ float s[1024];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += 32) s[i] = in[i];
    __syncthreads();
    for (int turn = 0; turn < turns; turn++) {{
        int i = pick[turn * 32 + t];
        const float* from = {where} + i;
        float sum = 0;
        if (i >= 0) {{
            #pragma unroll
            for (int k = 0; k < 8; k++) sum += from[k];
        }}
        out[turn * 32 + t] = sum;
    }}
}}"""
LANES = np.arange(32)
PICKS = {
    "a row, then another": [LANES, LANES + 40, LANES + 7],
    "a row, then columns": [LANES, LANES * 8, LANES, LANES * 8 + 1, LANES * 3],
    "one element": [LANES * 0 + 5, LANES * 0 + 6, LANES, LANES * 0],
    "two halves": [LANES % 16, LANES % 16 + 64 * (LANES > 15), LANES // 16, LANES],
    "some lanes": [np.where(LANES < 9, LANES, -1), LANES, np.where(LANES % 2, LANES, -1), LANES],
    "at the end": [LANES + 984, LANES, LANES[::-1] + 984],
}


@pytest.mark.parametrize("where", ["s", "in"])
@pytest.mark.parametrize("name", PICKS)
def test_patterns_that_change_under_followers(engine, where, name):
    pick = np.array(PICKS[name] * 2, np.int32)
    values = np.random.default_rng(3).random(1024, np.float32)
    out = np.zeros(pick.size, np.float32)
    engine.c(READ.format(where=where))(1, 32, pick, values, out, len(pick))
    expected = np.zeros_like(pick, np.float32)
    for k in range(8):
        expected += np.where(pick >= 0, values[np.maximum(pick, 0) + k], 0).astype(np.float32)
    assert np.array_equal(out.reshape(pick.shape), expected)


def sectors(pick: np.ndarray) -> int:
    """Sectors of a warp's request to an array that begins at one."""
    return len({int(i) // 8 for i in pick if i >= 0})


@pytest.mark.parametrize("name", PICKS)
def test_followers_are_counted_by_their_own_addresses(name):
    pick = np.array(PICKS[name] * 2, np.int32)
    kernel = cp.RawKernel(READ.format(where="in"), "read")
    x, out = cp.zeros(1024, cp.float32), cp.zeros(pick.size, cp.float32)
    found = profile(kernel, (1,), (32,), (cp.asarray(pick), x, out, np.int32(len(pick))))
    requests, sectors_read = (
        next(count for line, count in found.by_line(name).items() if "from[k]" in line.source)
        for name in ("global_load_requests", "global_load_sectors")
    )
    active = [p for p in pick if (p >= 0).any()]
    assert requests == 8 * len(active)
    assert sectors_read == sum(sectors(np.where(p >= 0, p + k, -1)) for p in active for k in range(8))
