"""`warpbook gpu` from end to end, with a driver and NVIDIA's programs that tests make, and without a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from helpers import cli
from helpers.workbook.gpu import counters, machine, page, parts, run
from helpers.workbook.gpu.outcome import NotRun, Outcome
from tests.workbook.gpu.fake_tools import LOCKED, as_ncu_prints, write_tool
from tests.workbook.made import code, text, written
from vgpu.hardware import driver
from vgpu.standins import backend
from vgpu.tests.fake_driver import Driver, show_gpus

needs_scripts = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are scripts with a #! line")
SMI = "580.159.04, 143771, 1980, 700.00, Disabled"
CLOCK = """\
timings = {"F.linear": benchmark(lambda: None, flops=1e6)}
timings["own"] = benchmark(lambda: sum(range(99)), flops=1e6)"""
TESTS = """
import pytest
@pytest.mark.{mark}
def test_one(): assert {passes}
@pytest.mark.{mark}
def test_two(): pytest.skip("not on this GPU")
def test_other(): assert False
"""


@pytest.fixture
def seen(monkeypatch):
    """Let this process see a GPU, through the driver given; the processes that it starts see none."""
    monkeypatch.delenv("VGPU_BACKEND", raising=False)
    monkeypatch.setattr(driver, "torch_has_cuda", lambda: True)
    show_gpus(monkeypatch)

    def with_driver(library) -> None:
        for cached in (driver.probe, backend.on_gpu):
            cached.cache_clear()
        monkeypatch.setattr(driver, "library", lambda: library)

    yield with_driver
    driver.probe.cache_clear()
    backend.on_gpu.cache_clear()


@pytest.fixture
def project(monkeypatch, tmp_path):
    """A project with one chapter and two tests; `nvidia-smi` and `ncu` are on the path, which has one differing row."""
    (tmp_path / "notebooks").mkdir()
    cells = [text("# A chapter"), code("from helpers import benchmark"), code(CLOCK, "clock", "nbval-ignore-output")]
    written(tmp_path / "notebooks", *cells)
    (tmp_path / "tests" / "gpu").mkdir(parents=True)
    (tmp_path / "tests" / "gpu" / "test_made.py").write_text(TESTS.format(mark="gpu", passes=True))
    monkeypatch.setattr(counters, "CASES", counters.CASES[:2])
    measured = [counters.counted(case) for case in counters.CASES]
    measured[1]["global_load_sectors"] += 1
    write_tool(tmp_path / "bin" / "nvidia-smi", SMI)
    write_tool(tmp_path / "bin" / "ncu", as_ncu_prints(measured))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(cli, "project_folder", lambda: tmp_path)
    return tmp_path


@pytest.mark.slow
@needs_scripts
def test_every_part_runs_and_is_kept(seen, project, capsys):
    seen(Driver())
    assert cli.main(["gpu"]) == 0
    results = json.loads((project / "build" / "gpu.json").read_text())
    found = results["machine"]
    assert (found["device"], found["compute capability"], found["CUDA"]) == ("NVIDIA H200", "9.0", "13.0")
    assert found["nvidia-smi"]["driver_version"] == "580.159.04" and "torch" in found["packages"]
    assert {name: part["summary"] for name, part in results["parts"].items()} == {
        "tests": "1 test passed, 0 failed, 1 skipped",
        "counters": f"{len(results['parts']['counters']['rows'])} counters of 2 launches compared, 1 differ",
        "ladders": "2 ladders timed, 0 failed",
        "chapters": "1 chapter ran, 0 problems",
    }
    assert set(results["parts"]["ladders"]["ladders"]) == {"copy", "01_made"}
    shown = capsys.readouterr().out
    assert "## NVIDIA H200, driver 580.159.04, CUDA 13.0, 20" in shown
    assert "| F.linear (cuBLAS) |" in shown and "| 100.0% |" in shown
    assert f"| {counters.CASES[1].name} | global_load_sectors | 512 | 513 |" in shown
    assert '<figure role="img" aria-label="01_made: the fastest is' in (project / "build" / "gpu.html").read_text()


@pytest.mark.slow
@needs_scripts
def test_a_test_that_fails_turns_it_red_and_locked_counters_do_not(seen, project, capsys):
    seen(Driver())
    write_tool(project / "bin" / "ncu", LOCKED, status=1)
    assert cli.main(["gpu", "counters"]) == 0
    assert "counters: not run: profiling is locked on this machine (ERR_NVGPUCTRPERM)" in capsys.readouterr().out
    (project / "tests" / "gpu" / "test_made.py").write_text(TESTS.format(mark="gpu", passes=False))
    assert cli.main(["gpu", "tests", "--to", str(project / "other.json")]) == 1
    assert "test_one: assert False" in json.loads((project / "other.json").read_text())["parts"]["tests"]["failed"]
    capsys.readouterr()
    assert cli.main(["gpu", "--show", str(project / "other.json")]) == 0
    assert "| tests | test_one: assert False |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("library", "reason"),
    [
        (None, "This machine has no NVIDIA driver. Call `warpbook gpu` on a machine with an NVIDIA GPU"),
        (Driver(b"Tesla T4", (7, 5), 12040), "The driver of this Tesla T4 supports CUDA 12.4"),
        (Driver(b"V100", (7, 0)), "V100 has compute capability 7.0"),
        (Driver(fails={"cuInit": 100}), "no CUDA-capable device is detected"),
    ],
    ids=["no driver", "old driver", "old GPU", "no GPU"],
)
def test_without_a_usable_gpu_nothing_is_red(seen, monkeypatch, tmp_path, capsys, library, reason):
    seen(library)
    assert run.run(tmp_path, tmp_path / "gpu.json") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Nothing to measure: ") and shown.count("\n") == 1 and reason in shown
    assert not (tmp_path / "gpu.json").exists()


def test_without_a_gpu_no_package_is_needed(root):
    """So `make gpu` says what is missing where nothing can be installed."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
    command = [sys.executable, "-S", "-m", "helpers.cli", "gpu"]
    said = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=60)
    assert (said.returncode, said.stderr) == (0, "") and "CUDA_VISIBLE_DEVICES hides every GPU" in said.stdout


def test_a_gpu_that_is_left_alone_by_choice_is_not_called_missing(seen, monkeypatch):
    seen(Driver())
    monkeypatch.setenv("VGPU_BACKEND", "virtual")
    assert "Unset it" in machine.missing()


def test_a_part_that_lacks_a_package_says_so_and_one_that_stops_is_a_failure(tmp_path):
    with pytest.raises(NotRun, match="needs no_such_package"):
        parts.Part("x", "", ("sys", "no_such_package"), lambda root: Outcome("")).outcome(tmp_path)
    stopped = parts.Part("x", "", (), lambda root: {}["key"]).outcome(tmp_path)
    assert stopped == Outcome("stopped", ("KeyError: 'key'",))


def test_an_unknown_part_is_refused(capsys):
    assert cli.main(["gpu", "ladder"]) == 2
    assert "There is no part ladder. There are: tests, counters, ladders, chapters." in capsys.readouterr().err


def test_other_versions_than_the_pinned_ones_are_listed(seen, monkeypatch):
    seen(Driver())
    monkeypatch.setattr(
        machine.packages,
        "read_pins",
        lambda text: {"torch": "1.0", "numpy": machine.packages.installed()["numpy"].version},
    )
    assert machine.describe()["pinned"] == {"torch": "1.0"}


def test_without_nvidia_smi_the_rest_is_described(seen, monkeypatch):
    seen(Driver())
    monkeypatch.setenv("PATH", "")
    found = machine.describe()
    assert found["nvidia-smi"] == {"problem": "nvidia-smi is not on the path"} and found["device"] == "NVIDIA H200"
    assert "driver of unknown version" in page.title({"machine": found})


def test_a_version_is_compared_with_the_library_of_its_operation():
    seconds = {"softmax, fused": 2.0, "softmax, PyTorch": 1.0, "layer norm, PyTorch": 4.0, "gelu, fused": 1.0}
    timings = {name: {"seconds": each} for name, each in seconds.items()}
    assert [page.of_library(name, timings) for name in timings] == [0.5, 1.0, 1.0, None]


def test_pytests_errors_outside_of_a_test_count_as_failed():
    outcome = parts.read_junit(
        '<testsuites><testsuite><testcase name="a"><error message="collection failure&#10;more"/></testcase>'
        '<testcase name="b"/></testsuite></testsuites>'
    )
    assert outcome == Outcome("1 test passed, 1 failed, 0 skipped", ("a: collection failure",))


def test_the_tests_that_need_a_gpu_are_where_they_are_looked_for(root):
    marked = [path for folder in ("tests", "vgpu/tests") for path in (root / folder).rglob("test_*.py")
              if "mark.gpu\n" in path.read_text(encoding="utf-8")]  # fmt: skip
    assert marked and all(path.is_relative_to(root / parts.TESTS) for path in marked)
