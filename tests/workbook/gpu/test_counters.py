"""The comparison with Nsight Compute as far as it goes without a GPU: its cases run, and its table is read right."""

from __future__ import annotations

import pytest

from tests.gpu import ncu


def text(measured: list[dict[str, int]], names: dict[str, str]) -> str:
    head = ["ID", "Kernel Name", *names]
    rows = [",".join(f'"{cell}"' for cell in head), ",".join(['""'] * 2 + ['"sector"'] * len(names))]
    rows += [
        ",".join(f'"{cell}"' for cell in (i, "k", *(f"{row[key]:,}" for key in names.values())))
        for i, row in enumerate(measured)
    ]
    return "==PROF== Connected to process 7\n" + "\n".join(rows) + "\n"


def test_the_cases_run_and_what_is_read_is_compared():
    counted = [ncu.counted(case) for case in ncu.CASES]
    assert len(ncu.CASES) >= 20 and all(any(row.values()) for row in counted)
    measured = ncu.read(text(counted, ncu.nsight_names()))
    rows = ncu.compare(measured)
    assert rows and all(row["counted"] == row["measured"] for row in rows)
    measured[3]["global_load_sectors"] += 1
    wrong = [row for row in ncu.compare(measured) if row["counted"] != row["measured"]]
    assert [(row["case"], row["counter"]) for row in wrong] == [(ncu.CASES[3].name, "global_load_sectors")]


@pytest.mark.parametrize(
    ("stride", "sectors"), [(1, 4), (2, 8), (3, 12), (4, 16), (8, 32), (31, 32)], ids=lambda value: str(value)
)
def test_strided_copies_count_what_arithmetic_gives(stride, sectors):
    case = next(c for c in ncu.CASES if c.name == f"copy, stride {stride}")
    found = ncu.counted(case)
    assert found["global_load_sectors"] == 64 * sectors and found["global_load_requests"] == 64


def test_text_without_a_table_is_refused_with_what_ncu_said():
    with pytest.raises(ValueError, match="ERR_NVGPUCTRPERM"):
        ncu.read("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission")


def test_metrics_that_ncu_lacks_are_named():
    with pytest.raises(ValueError, match="l1tex__t_requests"):
        ncu.read('"ID","Kernel Name"\n"",""\n"0","k"\n')


def test_a_launch_too_few_is_noticed():
    with pytest.raises(ValueError, match="1 launches"):
        ncu.compare([{}])
