"""Traces of allocations, written by hand or recorded, replayed and stretched to other batches."""

import pytest
import torch
from torch.profiler import record_function

from helpers.results.torch.memory import MIB, memory_line
from helpers.results.torch.replay import replay, stretched

TRACE = [("alloc", "a", 14 * MIB), ("alloc", "b", 600), ("free", "a"), ("empty_cache",)]


def test_moments_are_what_the_allocator_held():
    found = replay(TRACE)
    assert [(each.allocated, each.reserved, each.largest_free) for each in found] == [
        (14 * MIB, 14 * MIB, 0), (14 * MIB + 1024, 16 * MIB, 2 * MIB - 1024), (1024, 16 * MIB, 14 * MIB),
        (1024, 2 * MIB, 2 * MIB - 1024),
    ]  # fmt: skip
    assert (found.peak_allocated, found.peak_reserved, found.driver_calls) == (14 * MIB + 1024, 16 * MIB, 2)
    assert [each.words for each in found] == ["a = 14 MiB", "b = 0.0005722 MiB", "del a", "empty_cache()"]


def test_it_ends_where_memory_runs_out():
    found = replay([("alloc", "a", 30 * MIB), ("alloc", "b", 30 * MIB), ("free", "a")], capacity=50 * MIB)
    assert (
        len(found) == 2 and "Tried to allocate 30.00 MiB" in found.failed and "out of memory at step 2" in repr(found)
    )


@pytest.mark.parametrize("step", [("alloc", "a"), ("give", "a"), ()])
def test_a_step_that_is_none_is_told_so(step):
    with pytest.raises(ValueError, match=r"step 4 is .*; a step is"):
        replay([*TRACE, step])


def test_an_empty_trace_is_told_so():
    with pytest.raises(ValueError, match="no steps"):
        replay([])


def program(batch):
    fixed = torch.ones(1000)
    for _ in range(2):
        grows = torch.ones(batch, 300)
        del grows
    return fixed


def test_two_batches_tell_of_a_third():
    recorded = {batch: memory_line(lambda batch=batch: program(batch)).trace for batch in (2, 4)}
    assert stretched(recorded, 7) == memory_line(lambda: program(7)).trace
    with pytest.raises(ValueError, match="more than sizes"):
        stretched({2: recorded[2], 4: recorded[4][:-1]}, 7)
    with pytest.raises(ValueError, match="two batch sizes"):
        stretched({2: recorded[2]}, 7)


def test_bytes_are_told_by_what_a_phase_leaves_behind():
    def run():
        with record_function("make"):
            kept = torch.ones(MIB // 4)
            torch.ones(MIB).sum()
        with record_function("use"):
            more = kept + 1
        return more

    kinds = memory_line(run).kinds({"make": "weights"})
    assert {name: max(values) for name, values in kinds.items()} == {
        "weights": MIB, "other": MIB, "temporary": 4 * MIB + 4,
    }  # fmt: skip
