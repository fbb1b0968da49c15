"""The job that tries the newest versions: its table, and what it keeps."""

from __future__ import annotations

import json

from vgpu.tests import versions


def test_every_row_names_tests_and_pins_that_exist():
    pinned = versions.pins(versions.PINS.read_text(encoding="utf-8"))
    for used in versions.USED.values():
        assert set(used.packages) <= set(pinned)
        assert [name for name in used.tests if not (versions.ROOT / "vgpu" / "tests" / name).is_file()] == []


def test_the_table_says_what_fails():
    rows = {"llvmlite": {"newest": {"llvmlite": "2.0"}, "passed": 3, "fails": ["vgpu/tests/test_ir.py::test_add"]}}
    shown = versions.table(rows, {"llvmlite": "1.0", "numpy": "2.4"}).splitlines()
    assert shown[2:] == [
        "| llvmlite | 1.0 | 2.0 | 3 pass | test_ir.py::test_add |",
        "| numpy | 2.4 | not installed | 3 pass | test_ir.py::test_add |",
    ]


def test_the_pins_of_all_others_stay():
    assert versions.without("# why\na==1\nab==2\n", ["a"]) == "# why\nab==2"


def test_what_was_tried_last_is_kept_with_its_date():
    for name, row in json.loads(versions.RECORD.read_text(encoding="utf-8"))["rows"].items():
        assert name in versions.USED and row["date"] and row["python"] and "fails" in row
