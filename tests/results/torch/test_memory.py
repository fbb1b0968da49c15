"""A program's memory, allocation by allocation: counted on the CPU, read off a GPU's trace."""

import pytest
import torch
from torch.profiler import record_function

from helpers.results.torch.memory import MIB, memory_line, read


def hold():
    with record_function("fill"):
        first = torch.ones(MIB // 4)
        second = torch.ones(MIB)
    with record_function("drop"):
        del second
    with record_function("fill"):
        third = first.clone()
    return first, third


def test_every_byte_is_booked_to_its_phase():
    line = memory_line(hold)
    assert [(each.name, each.peak, each.end) for each in line.phases] == [
        ("fill", 5 * MIB, 5 * MIB), ("drop", MIB, MIB), ("fill", 2 * MIB, 2 * MIB), ("unmarked", MIB, 0),
    ]  # fmt: skip
    assert (line.peak, line.peak_phase, line.kind) == (5 * MIB, "fill", "modelled")
    assert [each.operator for each in line.changes][:3] == ["aten::empty", "aten::empty", ""]


def test_what_the_allocator_would_keep_is_modelled():
    assert memory_line(hold).reserved[-1] == (2 + 20) * MIB  # a small segment and a large one


def test_memory_from_before_does_not_count():
    early = [torch.ones(MIB)]

    def run():
        later = torch.ones(256)
        early.clear()
        return later

    assert memory_line(run).peak == 1024


def test_nothing_allocated_is_told_so():
    with pytest.raises(ValueError, match="allocates no tensor"):
        memory_line(lambda: None)


def test_the_outermost_phase_and_the_innermost_operator_count():
    span = lambda name, kind, start, length: {"name": name, "cat": kind, "ts": start, "dur": length}
    events = [
        span("step", "user_annotation", 0, 100), span("Adam.step", "user_annotation", 10, 50),
        span("aten::add", "cpu_op", 20, 20), span("aten::empty", "cpu_op", 25, 5),
        _memory(27, 512, 512, 2 * MIB), _memory(90, -512, 0, 2 * MIB),
    ]  # fmt: skip
    line = read(events, on_gpu=True)
    assert [(each.phase, each.operator) for each in line.changes] == [("step", "aten::empty"), ("step", "")]
    assert (line.allocated, line.reserved, line.kind) == ((512, 0), (2 * MIB, 2 * MIB), "measured")
    assert "reserved (measured)" in repr(line) and "measured" in line._repr_html_()


def _memory(ts, nbytes, allocated, reserved):
    told = {"Bytes": nbytes, "Total Allocated": allocated, "Total Reserved": reserved, "Device Type": 1, "Addr": 0}
    return {"name": "[memory]", "cat": "cpu_instant_event", "ts": ts, "args": told}
