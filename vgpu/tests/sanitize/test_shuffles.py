"""A shuffle from a lane that isn't part of it gives an undefined value: a mistake where the value is used."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.standins import cupy as cp
from vgpu.tools.sanitize import sanitize

TREE = "for (int d = 8; d; d /= 2) x += __shfl_down_sync(MASK, x, d);"
RIGHT = {
    "half a warp adds up, and its first lane stores": (f"if (t < 16) {{ {TREE} if (!t) out[0] = x; }}", "0xffff", 32),
    "a whole warp": (f"x += __shfl_down_sync(MASK, x, 16); {TREE} if (!t) out[0] = x;", "~0u", 32),
    "what comes from beyond the block is dropped":
        ("int y = __shfl_down_sync(MASK, x, 16); if (t + 16 < 20) x += y; out[t] = x;", "~0u", 20),
    "a branch in lanes that nobody asks": (
        "if (t < 16) { for (int d = 8; d; d /= 2) { int y = __shfl_down_sync(MASK, x, d);"
        "if (y > x) { x = y; if (!t) out[40] = 1; } } if (!t) out[0] = x; }", "0xffff", 32),
    "what decides in lanes that nobody asks":
        (f"if (t < 16) {{ {TREE} if (x > 9) if (!t) out[0] = 1; }}", "0xffff", 32),
    "an exited lane that is named and not asked":
        ("if (t >= 20) return; x += __shfl_xor_sync(MASK, x, 1); out[t] = __reduce_max_sync(~0u, x);", "0xfffff", 32),
    "basic blocks of eight": ("for (int d = 4; d; d /= 2) x += __shfl_xor_sync(MASK, x, d, 8); out[t] = x;", "~0u", 32),
}  # fmt: skip
WRONG = {  # and the lane that is named
    "a lane outside of the mask": ("if (t < 8) out[t] = __shfl_down_sync(MASK, x, 4);", "0xff", 32, 8),
    "a lane beyond the block": ("out[t] = __shfl_down_sync(MASK, x, 4);", "~0u", 20, 20),
    "an address": ("if (t < 8) out[__shfl_xor_sync(MASK, x, 8)] = 1;", "0xff", 32, 8),
    "added, and sent on":
        ("if (t < 8) { x += __shfl_xor_sync(MASK, x, 8); out[t] = __shfl_xor_sync(MASK, x, 1); }", "0xff", 32, 9),
    "whether to store": ("if (t < 8) if (__shfl_down_sync(MASK, x, 4) > 3) out[t] = 1;", "0xff", 32, 8),
    "how often to store":
        ("if (t < 8) for (int i = __shfl_down_sync(MASK, x, 4); i < 9; i++) out[t] = clock();", "0xff", 32, 8),
    "whether to return": ("if (__shfl_sync(0xffu << (t & 24), x, 15) == 3) return; out[t] = 1;", "", 32, 15),
    "given to an atomic": ("if (t < 8) atomicAdd(out, __shfl_xor_sync(MASK, x, 16));", "0xff", 32, 16),
}  # fmt: skip


def findings(body: str, mask: str, threads: int) -> list:
    source = f'extern "C" __global__ void k(int* out) {{ int t = threadIdx.x, x = t;\n{body.replace("MASK", mask)} }}'
    return list(sanitize(cp.RawKernel(source, "k"), 1, threads, (cp.zeros(80, np.int32),)))


@pytest.mark.parametrize("name", RIGHT)
def test_an_undefined_value_that_nobody_uses_is_no_mistake(name):
    assert findings(*RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_an_undefined_value_that_is_used_is_reported_with_its_lane(name):
    *case, lane = WRONG[name]
    (found,) = findings(*case)
    assert (found.kind, found.line) == ("shuffle_absent", 2) and f"from lane {lane}," in found.what


def test_a_mask_without_the_lane_itself_is_one_mistake():
    (found,) = findings("out[t] = __shfl_sync(MASK, x, t);", "0xff", 32)
    assert found.kind == "mask_self"
