"""Pipelines that are known to be right, under watch: nothing is blamed. The corpus asks the same of its kernels."""

from __future__ import annotations

import inspect

import pytest

from vgpu.launch import launch
from vgpu.tests import test_async_copies, test_bulk_copies, test_gathered_rows, test_mbarrier
from vgpu.tools.sanitize.run import run

# Kernels that are meant to be wrong, and one whose two blocks write to one place.
WRONG = {
    "test_without_the_barrier_only_the_own_warp_is_seen", "test_waiting_for_all_but_the_latest_groups",
    "test_threads_of_a_warp_commit_and_wait_for_themselves", "test_groups_are_counted_thread_by_thread",
    "test_double_buffered_matmul_that_waits_for_the_wrong_group", "test_a_source_size_beyond_the_size",
    "test_barriers_start_anew_in_every_block", "test_without_the_wait_nothing_has_arrived",
    "test_bytes_that_are_not_announced_leave_the_barrier_waiting", "test_what_is_no_tensor_map",
    "test_a_freed_array_behind_a_tensor_map", "test_rows_of_a_tensor_lie_multiples_of_16_bytes_apart",
    "test_stores_that_no_thread_waits_for_keep_their_order",
}  # fmt: skip
PIPELINES = [
    function
    for module in (test_async_copies, test_mbarrier, test_bulk_copies, test_gathered_rows)
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
@pytest.mark.parametrize("seed", (None, pytest.param(1, marks=pytest.mark.exhaustive)))
def test_asynchronous_copies_and_mbarriers(function, seed, compiled, monkeypatch):
    watch(monkeypatch, seed)
    function(compiled)
