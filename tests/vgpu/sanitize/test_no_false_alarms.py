"""Kernels that are known to be right, under watch: nothing is blamed, in global memory neither, and results stay."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from helpers.vgpu import cupy as cp
from helpers.vgpu import launch
from helpers.vgpu.sanitize import sanitize
from helpers.vgpu.sanitize.run import run
from tests.vgpu import test_unseen_kernels, test_unseen_python


@pytest.mark.parametrize("case", test_unseen_kernels.CASES, ids=lambda case: case.name)
def test_kernels_in_c(case):
    args, expected = case.make(np.random.default_rng(7))
    there = [cp.asarray(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    kernel = cp.RawModule(code=case.source, options=("-std=c++17",)).get_function("k")
    found = sanitize(kernel, case.grid, case.block, tuple(there), shared_bytes=case.shared, races_in_global=True)
    assert found.ok, repr(found)
    for index, wanted in expected.items():
        np.testing.assert_allclose(cp.asnumpy(there[index]), wanted, rtol=case.rtol, atol=case.atol)


PYTHON = [
    function
    for name, function in vars(test_unseen_python).items()
    if name.startswith("test_") and "refused" not in name and inspect.isfunction(function)
    and not inspect.signature(function).parameters
    and not hasattr(function, "pytestmark")
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*Host array used in CUDA kernel", "ignore:.*Grid size")
@pytest.mark.parametrize("function", PYTHON, ids=lambda function: function.__name__)
def test_kernels_in_python(function, monkeypatch):
    plain = launch.launch

    def watched(kernel, grid, block, params, arrays=(), shared_bytes=0, *, timeout=None, **options):
        if options.get("observe") or options.get("cooperative"):
            return plain(kernel, grid, block, params, arrays, shared_bytes, timeout=timeout, **options)
        prepared = launch.Prepared(kernel, list(params), list(arrays), shared_bytes)
        found = run(prepared, grid, block, shared_bytes, True, timeout)
        assert found.ok, repr(found)
        return None

    monkeypatch.setattr(launch, "launch", watched)
    function()
