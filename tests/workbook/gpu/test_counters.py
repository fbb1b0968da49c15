"""The comparison with Nsight Compute as far as it goes without a GPU: its cases run, and its tables are read right."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers.workbook.gpu import counters
from helpers.workbook.gpu.outcome import NotRun
from tests.workbook.gpu.fake_tools import LOCKED, as_ncu_prints, write_tool

NAMES = counters.nsight_names()


def test_the_cases_run_and_what_is_read_is_compared():
    counted = [counters.counted(case) for case in counters.CASES]
    assert len(counters.CASES) >= 20 and all(any(row.values()) for row in counted)
    measured = counters.read(as_ncu_prints(counted))
    rows = counters.compare(measured)
    assert rows and all(row["counted"] == row["measured"] for row in rows)
    measured[3]["global_load_sectors"] += 1
    wrong = [row for row in counters.compare(measured) if row["counted"] != row["measured"]]
    assert [(row["case"], row["counter"]) for row in wrong] == [(counters.CASES[3].name, "global_load_sectors")]


@pytest.mark.parametrize(
    ("stride", "sectors"), [(1, 4), (2, 8), (3, 12), (4, 16), (8, 32), (31, 32)], ids=lambda value: str(value)
)
def test_strided_copies_count_what_arithmetic_gives(stride, sectors):
    case = next(c for c in counters.CASES if c.name == f"copy, stride {stride}")
    found = counters.counted(case)
    assert found["global_load_sectors"] == 64 * sectors and found["global_load_requests"] == 64


PAGE_RAW = """\
==PROF== Connected to process 1234 (/usr/bin/python3.12)
==PROF== Profiling "k" - 0: 0%....50%....100% - 3 passes
a line of the program
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",\
"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",\
"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum","smsp__inst_executed_op_shared_ld.sum"
"","","","","","","","","","","","sector","","","inst"
"0","1234","python3.12","host","k(const float *, float *, int)","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0",\
"1,024","3","61","(!) n/a"
"1","1234","python3.12","host","k(const float *, float *, int)","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0",\
"16777216","0","0","64"
==PROF== Disconnected from process 1234
"""
"""What `ncu --csv --page raw` prints: names, units, a line for each launch; some values as a real one writes them."""


def test_a_table_is_read_as_nsight_compute_prints_it():
    first, second = counters.read(PAGE_RAW)
    assert (first["global_load_sectors"], second["global_load_sectors"]) == (1024, 16_777_216)
    assert (first["shared_load_requests"], second["shared_load_requests"]) == (None, 64)
    assert first["global_store_sectors"] is None, "a metric that isn't there has no value"


def test_atomics_without_a_result_count_as_atomics():
    assert counters.read(PAGE_RAW)[0]["global_atomic_requests"] == 3 + 61


def test_only_metrics_that_the_engine_names_are_asked_for():
    assert set(NAMES) == set(counters.COMPARED)
    assert all(name.startswith(("l1tex__", "smsp__")) and name.endswith(".sum") for key in NAMES for name in NAMES[key])


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (LOCKED, r"locked on this machine \(ERR_NVGPUCTRPERM\).*administrator.*https://developer\.nvidia\.com"),
        ("==ERROR== Failed to initialize the profiler: LibraryNotLoaded\n", "it said: ==ERROR== .*LibraryNotLoaded"),
        ("==PROF== Connected\nModuleNotFoundError: No module named 'cupy'\n", "it said: ModuleNotFoundError"),
        ("", "it said: nothing"),
    ],
    ids=["locked", "no library", "the program fails", "silent"],
)
def test_without_a_table_the_reason_is_given(said, reason):
    with pytest.raises(NotRun, match=reason):
        counters.read(said)


def test_a_launch_too_few_is_noticed():
    with pytest.raises(ValueError, match="1 launches"):
        counters.compare([{}])


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script with a #! line")
def test_the_newest_tool_is_found_beside_the_path(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "")
    assert counters.find_ncu((str(tmp_path),)) is None
    for version in ("2024.1.1", "2025.3.1"):
        write_tool(tmp_path / version / "ncu", "")
    assert counters.find_ncu((str(tmp_path),)) == str(tmp_path / "2025.3.1" / "ncu")
    on_path = write_tool(tmp_path / "bin" / "ncu", "")
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert counters.find_ncu((str(tmp_path),)) == str(on_path)


def test_without_the_tool_nothing_is_run(monkeypatch):
    monkeypatch.setattr(counters, "find_ncu", lambda: None)
    with pytest.raises(NotRun, match="CUDA Toolkit"):
        counters.run(Path())
