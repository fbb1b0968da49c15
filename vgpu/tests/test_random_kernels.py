"""The compiled engine against the reference interpreter on random kernels with tangled control flow."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from vgpu import reference
from vgpu.compile import cuda_c_to_ptx
from vgpu.launch import launch
from vgpu.storage import memory
from vgpu.tests import random_kernels

GRID, BLOCK, N = 3, 64, 13


def outcome(run) -> np.ndarray:
    given = memory.array(64, np.uint32)
    given[:] = np.random.default_rng(5).integers(0, 2**32, 64, dtype=np.uint32)
    out = memory.array(260, np.uint32)
    out[:] = 0
    run([struct.pack("<Q", memory.owner(x).address) for x in (given, out)] + [struct.pack("<I", N)])
    return out.copy()


@pytest.mark.parametrize("seed", range(12))
def test_engines_agree_on_random_kernels(seed):
    text = random_kernels.source(seed)
    (kernel,) = launch.load(cuda_c_to_ptx(text).ptx, language="cuda", filename="kernel.cu", source=text).values()
    expected = outcome(lambda params: reference.run(kernel, None, GRID, BLOCK, params))
    plain = outcome(lambda params: launch.launch(kernel, GRID, BLOCK, params))
    counted = outcome(lambda params: launch.launch(kernel, GRID, BLOCK, params, observe=True, threads=2))
    np.testing.assert_array_equal(plain, expected, err_msg=text)
    np.testing.assert_array_equal(counted, expected, err_msg=text)
    assert expected[:192].any(), "a kernel that writes nothing tests nothing"
