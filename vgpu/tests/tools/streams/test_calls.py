"""A schedule in a profiler's columns: what the host asked for, and what ran."""

import pytest

from vgpu.tools.streams.calls import calls
from vgpu.tools.streams.spans import Schedule, Span


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
    assert "modelled" in repr(table) and "modelled" in table._repr_html_()
    with pytest.raises(KeyError, match="there are waits, add"):
        table["mul"]


def test_a_measured_schedule_has_the_names_of_cudas_calls():
    kernel = Span("SMs", "stream 7", 1e-5, 2e-5, "add (8 blocks)", "measured")
    call = Span("host", "the host", 0, 4e-6, "cudaLaunchKernel: add (8 blocks), stream 7", "measured")
    table = calls(Schedule("H200", (kernel,), 2e-5, kind="measured", host=(call,)))
    assert (table["cudaLaunchKernel"].device, table["add"].host) == (0, 0)
