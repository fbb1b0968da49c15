"""What `warpbook doctor` says, about made-up machines and about this one."""

from __future__ import annotations

import ast
import contextlib
import errno
import importlib.metadata
import json
import os
import subprocess
import sys

import pytest

from helpers.workbook import checks, doctor, real_gpu
from helpers.workbook.checks import CHECKS, Check, Finding
from vgpu.base import on_disk
from vgpu.tests.fake_driver import Driver, show_gpus


def test_a_finding_that_is_not_ok_needs_a_remedy():
    with pytest.raises(ValueError, match="says what to do"):
        Finding("thing", "problem", "broken")
    with pytest.raises(ValueError, match="state is one of"):
        Finding("thing", "fine", "found")


@pytest.mark.parametrize(
    ("version", "state"),
    [((3, 11, 0), "ok"), ((3, 14, 1), "ok"), ((3, 10, 9), "problem"), ((3, 15, 0), "problem")],
)
def test_python(version, state):
    finding = checks.python_version("Python", version)
    assert finding.state == state
    assert ".".join(map(str, version)) in finding.found


@pytest.mark.parametrize(
    ("cpu", "state", "found"),
    [
        ("icelake-server (avx512f)", "ok", "AVX-512 on icelake-server"),
        ("haswell (avx2)", "ok", "AVX2 on haswell"),
        ("apple-m1 (neon)", "ok", "NEON on apple-m1"),
        ("core2 (baseline)", "warn", "no wide vectors on core2"),
    ],
)
def test_vector_unit(cpu, state, found):
    finding = checks.vector_unit("vector unit", cpu)
    assert finding.state == state
    assert found in finding.found


def test_widgets_need_the_extension(tmp_path):
    for extension, package, _ in checks.LAB_EXTENSIONS:
        finding = checks.widgets("widgets", [tmp_path])
        assert finding.state == "problem" and package in finding.remedy
        (tmp_path / extension).mkdir(parents=True)
    assert checks.widgets("widgets", [tmp_path]).state == "ok"


@pytest.mark.parametrize(
    ("present", "state"),
    [
        ({"chromium": "/c", "chromedriver": "/d"}, "ok"),
        ({"google-chrome": "/c", "chromedriver": "/d"}, "ok"),
        ({"chromium": "/c", "google-chrome": "/g", "chromedriver": "/d"}, "ok"),
        ({"chromium": "/c"}, "warn"),
        ({}, "warn"),
    ],
    ids=str,
)
def test_a_missing_browser_is_no_problem(present, state, monkeypatch):
    monkeypatch.setattr(checks.shutil, "which", present.get)
    finding = checks.browser("browser test")
    assert finding.state == state
    assert state == "ok" or "apt-get install" in finding.remedy


def broken(name):
    raise ImportError("libthing.so.13: cannot open shared object file\nsecond line")


def test_what_a_check_raises_becomes_a_problem_with_the_remedy_of_its_row():
    rows = [Check("thing", broken, "reinstall thing"), Check("Python", checks.python_version, "x")]
    first, second = doctor.examine(rows)
    assert first == Finding(
        "thing", "problem", "ImportError: libthing.so.13: cannot open shared object file", "reinstall thing"
    )
    assert second.state == "ok"


def test_macos_is_told_the_truth():
    assert "no compilers for macOS" in doctor.no_compilers_remedy("reinstall", "darwin")
    assert doctor.no_compilers_remedy("reinstall", "linux") == "reinstall"


def test_text_and_json():
    findings = [Finding("a", "ok", "here"), Finding("bcd", "warn", "old", "renew it")]
    assert doctor.as_text(findings).splitlines() == [
        "ok       a    here",
        "warn     bcd  old",
        "              → renew it",
        "",
        "0 problems, 1 warning.",
    ]
    assert "All well" in doctor.as_text(findings[:1])
    assert json.loads(doctor.as_json(findings))[1] == {
        "name": "bcd",
        "state": "warn",
        "found": "old",
        "remedy": "renew it",
    }


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_this_machine_is_fit(check):
    problems = [finding for finding in doctor.examine([check]) if finding.state == "problem"]
    assert not problems, "\n" + doctor.as_text(problems)


@pytest.mark.parametrize(("platform", "state"), [("linux", "problem"), ("win32", "warn"), ("darwin", "warn")])
def test_triton_is_missed_only_where_it_can_be_had(platform, state, monkeypatch):
    from vgpu.base.errors import Unsupported
    from vgpu.standins import triton

    def missing():
        raise Unsupported(triton.missing(platform))

    monkeypatch.setattr(triton, "installed", missing)
    found = checks.triton_compiler("Triton", platform)
    assert found.state == state and found.remedy


def test_the_cache_is_shown_and_what_keeps_it_from_being_used(tmp_path, monkeypatch):
    monkeypatch.setenv("VGPU_CACHE", str(tmp_path / "kept"))
    on_disk.kept("thing", (), ("x",), lambda: bytes(99_968))
    finding = checks.disk_cache("cache")
    assert (finding.state, finding.found) == ("ok", f"1 entries, 0.1 MB of compiled code in {tmp_path / 'kept'}")
    (tmp_path / "file").touch()
    monkeypatch.setenv("VGPU_CACHE", str(tmp_path / "file"))
    finding = checks.disk_cache("cache")
    assert finding.state == "warn" and finding.remedy == "Set VGPU_CACHE to another folder."
    monkeypatch.setenv("VGPU_CACHE", "off")
    assert checks.disk_cache("cache").found == "compiled code is not kept (VGPU_CACHE=off)"


def test_a_full_disk_is_reported(tmp_path, monkeypatch):
    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("VGPU_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(os, "fsync", full)
    finding = checks.disk_cache("cache")
    assert finding.state == "warn" and "No space left" in finding.found and "Make room" in finding.remedy


def test_of_several_browsers_the_drivers_own_release_is_taken(tmp_path, monkeypatch):
    for name, version in (("chromium", 140), ("google-chrome", 142), ("chromedriver", 142)):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} {version}.0.7000.1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    assert checks.browser_paths() == (str(tmp_path / "google-chrome"), str(tmp_path / "chromedriver"))


# -- damaged environments -------------------------------------------------------------------------------

WITHOUT = """
import sys

class Gone:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in {gone!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Gone())
"""
CRASHING = """
import os, sys

class Crashing:
    def find_spec(self, name, *rest):
        if name == "llvmlite":
            os.abort()

sys.meta_path.insert(0, Crashing())
"""
BROKEN = {  # how, and what the row of the virtual GPU says
    "llvmlite": (WITHOUT.format(gone=["llvmlite"]), "No module named 'llvmlite'"),
    "numpy": (WITHOUT.format(gone=["numpy"]), "No module named 'numpy'"),
    "several": (WITHOUT.format(gone=["torch", "packaging", "psutil", "jupyter_core", "IPython"]), "the right values"),
    "a crash": (CRASHING, "Python crashed, exit status -6"),
}
IN_TEST = ("numpy", "a crash")  # each takes ten seconds and more


@pytest.mark.slow
@pytest.mark.parametrize(
    "how", [pytest.param(name, marks=[] if name in IN_TEST else [pytest.mark.exhaustive]) for name in BROKEN]
)
def test_it_never_crashes(how, root, tmp_path):
    code, words = BROKEN[how]
    (tmp_path / "sitecustomize.py").write_text(code)
    command = [sys.executable, "-m", "helpers.cli", "doctor", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=300)
    findings = json.loads(ran.stdout)
    assert ran.returncode == 1 and len(findings) >= len(CHECKS) and "Traceback" not in ran.stderr
    assert words in next(each["found"] for each in findings if each["name"] == "virtual GPU")


def test_what_the_chapters_import_is_tried(root):
    """Modules that lie beside a notebook, or that it writes itself, cannot be found by the project."""
    here = root / "notebooks"
    imported = set()
    for path in here.glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                with contextlib.suppress(SyntaxError):
                    imported |= set(top_modules("".join(cell["source"])))
    installed = importlib.metadata.packages_distributions()
    foreign = {name for name in imported if name in installed and name != "helpers"}
    assert {"torch", "numpy", "sklearn"} <= foreign
    assert foreign <= {name.split(".")[0] for name in checks.IMPORTED + checks.ON_LINUX}


def top_modules(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


# -- a real GPU -----------------------------------------------------------------------------------------


@pytest.fixture
def with_driver(monkeypatch):
    from vgpu.hardware import driver

    def installed(library):
        driver.probe.cache_clear()
        show_gpus(monkeypatch)
        monkeypatch.delenv("VGPU_BACKEND", raising=False)
        monkeypatch.setattr(driver, "torch_has_cuda", lambda: True)
        monkeypatch.setattr(driver, "library", lambda: library)

    yield installed
    driver.probe.cache_clear()


def test_a_gpu_is_real_only_when_both_libraries_have_launched_a_kernel(with_driver, monkeypatch):
    def refused():
        raise RuntimeError("cudaErrorInsufficientDriver")

    with_driver(Driver())
    right = [2.0 * thread for thread in range(real_gpu.THREADS)]
    row = [check for check in CHECKS if check.name == "what runs"]
    for by_cupy, by_numba, state in (
        (lambda: right, lambda: right, "ok"),
        (refused, lambda: right, "problem"),
        (lambda: right, refused, "problem"),
        (lambda: right, lambda: right[::-1], "problem"),
    ):
        monkeypatch.setattr(real_gpu, "by_cupy", by_cupy)
        monkeypatch.setattr(real_gpu, "by_numba", by_numba)
        (finding,) = doctor.examine(row)
        assert finding.state == state
        assert state == "ok" or "VGPU_BACKEND=virtual" in finding.remedy


def test_a_gpu_that_cannot_be_used_is_a_warning_with_the_reason(with_driver):
    with_driver(Driver(b"Tesla T4", (7, 5), 12040))
    finding = checks.what_runs("what runs")
    assert finding.state == "warn" and "supports CUDA 12.4" in finding.found and "README" in finding.remedy
