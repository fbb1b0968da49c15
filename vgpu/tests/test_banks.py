"""The banks as they are drawn and the wavefronts as they are counted: one rule, held together here."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.standins import cupy as cp
from vgpu.storage.banks import BANKS, parts, wavefronts
from vgpu.tools.profile import profile
from vgpu.tools.steps.trace import Access, trace

TYPES = {"char": 1, "short": 2, "float": 4, "double": 8, "float4": 16}
WORDS = 2048


def read(kind: str):
    """A kernel in which each lane reads the element that `pick` names, unless that is negative."""
    return cp.RawKernel(
        f"""
        extern "C" __global__ void read(const int* pick, float* out) {{
            __shared__ {kind} s[{4 * WORDS} / sizeof({kind})];
            s[threadIdx.x] = {kind}();
            __syncthreads();
            int i = pick[threadIdx.x];
            if (i >= 0) (({kind}*)out)[threadIdx.x] = s[i];
        }}""",
        "read",
    )


def lanes(addresses, nbytes=4, op="load") -> Access:
    found = [-1 if a is None else a for a in addresses] + [-1] * (32 - len(addresses))
    return Access(1, "shared", op, nbytes, tuple(a >= 0 for a in found), tuple(found), None, 0, 0)


@pytest.mark.parametrize("kind", TYPES)
def test_random_requests_are_counted_as_they_are_laid_out(kind):
    kernel, random = read(kind), np.random.default_rng(5)
    elements = 4 * WORDS // TYPES[kind]
    out = cp.zeros(32 * 4, np.float32)
    for spread in (8, 64, elements):
        pick = random.integers(0, min(spread, elements), 32).astype(np.int32)
        pick[random.random(32) < 0.2] = -1
        arguments = (cp.asarray(pick), out)
        (access,) = [a for a in trace(kernel, 1, 32, arguments).accesses if (a.space, a.op) == ("shared", "load")]
        counted = profile(kernel, 1, 32, arguments)
        laid_out = wavefronts(access)
        assert access.nbytes == TYPES[kind]
        assert counted["shared_load_wavefronts"] == len(laid_out)
        assert counted["shared_load_conflicts"] == max(0, len(laid_out) - parts(access.nbytes))


def test_atomics_on_one_word_follow_one_another():
    kernel = cp.RawKernel(
        """
        extern "C" __global__ void add(int* out) {
            __shared__ int bins[4];
            if (threadIdx.x < 4) bins[threadIdx.x] = 0;
            __syncthreads();
            atomicAdd(&bins[threadIdx.x % 3], 1);
            __syncthreads();
            if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
        }""",
        "add",
    )
    out = cp.zeros(4, np.int32)
    (access,) = [a for a in trace(kernel, 1, 32, (out,)).accesses if a.op == "atomic"]
    counted = profile(kernel, 1, 32, (out,))
    assert len(wavefronts(access)) == counted["shared_atomic_wavefronts"] == 11


def test_every_word_wanted_is_served_once_and_by_its_bank():
    random = np.random.default_rng(1)
    addresses = [int(a) for a in 8 * random.integers(0, 200, 32)]
    fronts = wavefronts(lanes(addresses, nbytes=8))
    served = [(lane, word.number) for front in fronts for word in front.words.values() for lane in word.lanes]
    assert sorted(served) == sorted((lane, a // 4 + k) for lane, a in enumerate(addresses) for k in (0, 1))
    assert all(word.number % BANKS == bank for front in fronts for bank, word in front.words.items())


def test_lanes_of_one_word_share_a_wavefront():
    (front,) = wavefronts(lanes([64] * 32))
    assert front.words[16].lanes == tuple(range(32))


def test_wide_accesses_are_served_in_parts():
    assert [front.part for front in wavefronts(lanes([16 * i for i in range(32)], nbytes=16))] == [0, 1, 2, 3]
    assert [front.part for front in wavefronts(lanes([8 * i for i in range(32)], nbytes=8))] == [0, 1]


def test_no_lane_no_wavefront():
    assert wavefronts(lanes([None] * 32)) == ()


def test_requests_of_other_memory_have_no_banks():
    with pytest.raises(ValueError, match="banks serve shared memory; this is a request of global memory"):
        wavefronts(Access(1, "global", "load", 4, (True,) * 32, tuple(range(0, 128, 4)), "x", 0, 0))
