"""Kernels that are known to be right, under watch: nothing is blamed, in global memory neither, and results stay."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from helpers.results.sanitize import sanitize
from helpers.results.sanitize.run import run
from helpers.vgpu.launch import launch
from helpers.vgpu.standins import cupy as cp
from tests.vgpu import test_async_copies, test_bulk_copies, test_mbarrier, test_unseen_kernels, test_unseen_python


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
    watch(monkeypatch)
    function()


# Kernels that are meant to be wrong, and one whose two blocks write to one place.
WRONG = {
    "test_without_the_barrier_only_the_own_warp_is_seen", "test_waiting_for_all_but_the_latest_groups",
    "test_threads_of_a_warp_commit_and_wait_for_themselves", "test_groups_are_counted_thread_by_thread",
    "test_double_buffered_matmul_that_waits_for_the_wrong_group", "test_a_target_beyond_shared_memory",
    "test_a_source_beyond_the_array_fails_at_the_copy_not_at_the_wait", "test_a_source_size_beyond_the_size",
    "test_barriers_start_anew_in_every_block", "test_a_missing_byte_is_a_deadlock",
    "test_one_warp_at_a_barrier_and_one_at_an_mbarrier", "test_without_the_wait_nothing_has_arrived",
    "test_bytes_that_are_not_announced_leave_the_barrier_waiting", "test_what_is_no_tensor_map",
    "test_a_freed_array_behind_a_tensor_map",
}  # fmt: skip
PIPELINES = [
    function
    for module in (test_async_copies, test_mbarrier, test_bulk_copies)
    for name, function in vars(module).items()
    if name.startswith("test_") and inspect.isfunction(function) and name not in WRONG
    and list(inspect.signature(function).parameters) == ["engine"]
]  # fmt: skip


def watch(monkeypatch, seed: int | None = None) -> None:
    """Let every launch that is not counted be a sanitized one."""
    plain = launch.launch

    def watched(kernel, grid, block, params, arrays=(), shared_bytes=0, *, timeout=None, **options):
        if options.get("observe"):
            return plain(kernel, grid, block, params, arrays, shared_bytes, timeout=timeout, **options)
        prepared = launch.Prepared(kernel, list(params), list(arrays), shared_bytes)
        found = run(prepared, grid, block, shared_bytes, True, timeout, options.get("cooperative", False), seed)
        assert found.ok, repr(found)
        return None

    monkeypatch.setattr(launch, "launch", watched)


@pytest.mark.parametrize("function", PIPELINES, ids=lambda function: function.__name__)
@pytest.mark.parametrize("seed", (None, 1))
def test_asynchronous_copies_and_mbarriers(function, seed, compiled, monkeypatch):
    watch(monkeypatch, seed)
    function(compiled)
