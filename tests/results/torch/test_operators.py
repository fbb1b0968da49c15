"""PyTorch's operators as a table: bytes are those of the tensors, times are there."""

import pytest
import torch
from torch.profiler import ProfilerActivity
from torch.profiler import profile as torch_profile

from helpers.results.streams.spans import Schedule, Span
from helpers.results.torch.operators import calls, operators


@pytest.fixture(scope="module")
def seen():
    network = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU())
    with torch_profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as found:
        network(torch.ones(16, 64))
    return found


def test_bytes_are_those_of_the_results(seen):
    found = operators(seen, by="memory")
    assert found["aten::addmm"].nbytes == found["aten::gelu"].nbytes == 16 * 128 * 4
    assert found["aten::addmm"].calls == 1
    assert [row.nbytes for row in found.rows] == sorted((row.nbytes for row in found.rows), reverse=True)


def test_times_are_of_the_host_where_there_is_no_gpu(seen):
    found = operators(seen, most=3)
    assert len(found.rows) == 3 and not found.on_gpu
    assert all(row.host > 0 and row.device == 0 for row in found.rows)
    assert "no GPU" in repr(found) and "no GPU" in found._repr_html_()


def test_what_is_not_there_is_told_so(seen):
    with pytest.raises(KeyError, match="aten::"):
        operators(seen)["aten::conv2d"]
    with pytest.raises(ValueError, match="'time' or by 'memory'"):
        operators(seen, by="name")


def test_phases_are_no_operators():
    mark = torch.profiler.record_function
    with torch_profile(activities=[ProfilerActivity.CPU], acc_events=True) as found, mark("phase"):
        torch.ones(4)
    assert "phase" not in [row.name for row in operators(found, most=99).rows]


def test_a_schedule_in_a_profilers_columns():
    span = lambda engine, start, end, label: Span(engine, "the default stream", start, end, label)
    schedule = Schedule(
        "A100",
        (span("SMs", 5e-6, 1e-3, "add (1,024 blocks)"), span("SMs", 1e-3, 2e-3, "add (1 block)")), 2e-3,
        host=(span("host", 0, 5e-6, "add (1,024 blocks)"), span("host", 5e-6, 1e-5, "add (1 block)"),
              span("host", 1e-5, 2e-3, "waits")),
    )  # fmt: skip
    table = calls(schedule)
    assert [row.name for row in table.rows] == ["waits", "add"]
    assert table["add"].calls == 2 and table["add"].host == pytest.approx(1e-5)
    assert table["add"].device == pytest.approx(1.995e-3) and table["waits"].device == 0
    assert "modelled" in repr(table) and "bytes" not in repr(table) + table._repr_html_()


def test_a_measured_schedule_has_the_names_of_cudas_calls():
    kernel = Span("SMs", "stream 7", 1e-5, 2e-5, "add (8 blocks)", "measured")
    call = Span("host", "the host", 0, 4e-6, "cudaLaunchKernel: add (8 blocks), stream 7", "measured")
    table = calls(Schedule("H200", (kernel,), 2e-5, kind="measured", host=(call,)))
    assert (table["cudaLaunchKernel"].device, table["add"].host) == (0, 0)
