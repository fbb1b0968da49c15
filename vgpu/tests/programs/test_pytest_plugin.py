"""The pytest plugin, in a pytest of its own: budgets, the sanitizer, the fixture, and what it says when they fail."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys

import pytest

KERNELS = """\
from numba import cuda


@cuda.jit
def copy_strided(x, out, stride):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i * stride]


@cuda.jit
def reverse(x):
    shared = cuda.shared.array(64, dtype="float32")
    i = cuda.threadIdx.x
    shared[i] = x[i]
    x[i] = shared[63 - i]
"""
START = """\
import numpy as np
import pytest
from numba import cuda
from kernels import copy_strided, reverse


def copied(stride):
    x = cuda.to_device(np.arange(1024 * stride, dtype=np.float32))
    out = cuda.device_array(1024, dtype=np.float32)
    copy_strided[4, 256](x, out, stride)
    return out.copy_to_host()


def reversed_():
    x = cuda.to_device(np.arange(64, dtype=np.float32))
    reverse[1, 64](x)


"""


@pytest.fixture
def outcome(tmp_path):
    """Runs tests with the plugin: (the summary line, all that is shown)."""

    def run(tests, *options):
        (tmp_path / "kernels.py").write_text(KERNELS)
        (tmp_path / "test_it.py").write_text(START + tests)
        installed = importlib.metadata.entry_points(group="pytest11", name="vgpu")
        plugin = [] if installed else ["-p", "vgpu.programs.pytest_plugin"]
        command = [sys.executable, "-W", "ignore", "-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider", *options]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        return done.stdout.strip().splitlines()[-1].partition(" in ")[0], done.stdout

    return run


def test_budgets_name_the_line_that_breaks_them(outcome):
    summary, shown = outcome(
        """\
@pytest.mark.vgpu(max_sectors_per_request=4.2, min_occupancy=0.5, max_registers=32)
@pytest.mark.parametrize("stride", [1, 8])
def test_copy(stride):
    assert copied(stride)[3] == 3 * stride
""",
        "--vgpu",
    )
    assert summary == "1 failed, 1 passed"
    assert (
        "copy_strided, grid 4, block 256: sectors_per_request is 18, more than 4.2\n"
        "  line 8: out[i] = x[i * stride]  (18)\n" in shown
    )


def test_races_name_lines_and_threads(outcome):
    tests = "@pytest.mark.vgpu(no_races=True)\ndef test_reverse():\n    reversed_()\n"
    summary, shown = outcome(tests, "--vgpu")
    assert summary == "1 failed"
    assert re.search(r"reverse: error: race: a read and a write.*\n  thread \(\d+\) of block \(0\)", shown)
    assert "line 15: shared[i] = x[i]" in shown


def test_all_tests_under_the_sanitizer(outcome):
    tests = "def test_copy():\n    copied(1)\n\n\ndef test_reverse():\n    reversed_()\n"
    assert outcome(tests, "--vgpu")[0] == "2 passed"
    assert outcome(tests, "--vgpu", "--vgpu-sanitize")[0] == "1 failed, 1 passed"
    summary, shown = outcome(tests, "--vgpu", "--vgpu-schedules", "4")
    assert summary == "1 failed, 1 passed" and "the result depends on the schedule" in shown


def test_the_fixture_has_what_the_test_launched(outcome):
    tests = """\
def test_counts(vgpu):
    copied(1)
    copied(2)
    assert vgpu.profile("copy_strided")["sectors_per_load_request"] == 4
    assert [each.launches for each in vgpu.launches] == [2]


def test_none(vgpu):
    vgpu.profile()
"""
    summary, shown = outcome(tests, "--vgpu")
    assert summary == "1 failed, 1 passed"
    assert "LookupError: 0 launches fit None, not one; the test has launched: none" in shown


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("most_barriers=0", "pytest.mark.vgpu has no 'most_barriers': it has max_NAME, min_NAME"),
        ("max_sectors_per_reqest=4", "Did you mean sectors_per_request"),
        (
            "kernel='gone', max_barriers=0",
            "launched no kernel called 'gone' on the virtual GPU. It launched copy_strided.",
        ),
    ],
)
def test_a_mark_that_cannot_hold_says_so(outcome, mark, words):
    summary, shown = outcome(f"@pytest.mark.vgpu({mark})\ndef test_copy():\n    copied(1)\n", "--vgpu")
    assert summary == "1 failed" and words in shown
    assert "Traceback" not in shown and "pytest_plugin.py" not in shown


def test_a_failing_test_fails_for_its_own_reason(outcome):
    tests = "@pytest.mark.vgpu(no_races=True)\ndef test_reverse():\n    reversed_()\n    assert 1 == 2\n"
    summary, shown = outcome(tests, "--vgpu")
    assert summary == "1 failed" and "assert 1 == 2" in shown


def test_a_project_chooses_it_in_its_settings(outcome, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nvgpu = true\n")
    assert outcome("def test_copy():\n    copied(1)\n", "--vgpu-gpu", "H100")[0] == "1 passed"
