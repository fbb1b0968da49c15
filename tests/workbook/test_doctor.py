"""What `warpbook doctor` says, about made-up machines and about this one."""

from __future__ import annotations

import json

import pytest

from helpers.vgpu.base import on_disk
from helpers.workbook import doctor
from helpers.workbook.doctor import Check, Finding


def test_a_finding_that_is_not_ok_needs_a_remedy():
    with pytest.raises(ValueError, match="says what to do"):
        Finding("thing", "problem", "broken")
    with pytest.raises(ValueError, match="state is one of"):
        Finding("thing", "fine", "found")


def test_pins_are_read():
    text = "# comment\nnumpy==2.4.6\n\nCUDA_bindings==13.5.0  # why\nnot a pin\n"
    assert doctor.read_pins(text) == {"numpy": "2.4.6", "cuda-bindings": "13.5.0"}


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        ({"numpy": "2.4.6", "idna": "3.20"}, [("packages", "ok")]),
        ({"numpy": "2.4.6+cpu", "idna": "3.20.0"}, [("packages", "ok")]),  # a build, and another spelling
        ({"numpy": "2.4.6"}, [("packages", "ok")]),  # a pin that this platform does not need
        ({"idna": "3.20"}, [("numpy", "problem")]),
        ({"numpy": "2.3.0", "idna": "3.20"}, [("numpy", "problem")]),
        ({"numpy": "2.4.6", "idna": "3.1"}, [("idna", "warn")]),
        ({"idna": "3.1"}, [("idna", "warn"), ("numpy", "problem")]),
    ],
    ids=str,
)
def test_packages_against_pins(installed, expected):
    findings = doctor.compare({"numpy": "2.4.6", "idna": "3.20"}, {"numpy"}, installed)
    assert [(finding.name, finding.state) for finding in findings] == expected
    for finding in findings:
        assert finding.state == "ok" or f'"{finding.name}==' in finding.remedy


def test_a_direct_dependency_without_a_pin_is_still_looked_for():
    (finding,) = doctor.compare({}, {"numpy"}, {})
    assert (finding.state, finding.remedy) == ("problem", "python -m pip install numpy")


def test_requirements_of_another_platform_do_not_count():
    text = """[project]
    dependencies = ["numpy", "Cuda_Thing[cu13]; sys_platform == 'nowhere'", "tqdm; python_version > '3'"]"""
    assert doctor.read_requirements(text) == {"numpy", "tqdm"}


@pytest.mark.parametrize(
    ("version", "state"),
    [((3, 11, 0), "ok"), ((3, 14, 1), "ok"), ((3, 10, 9), "problem"), ((2, 7, 18), "problem")],
)
def test_python(version, state):
    finding = doctor.python_version("Python", version)
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
    finding = doctor.vector_unit("vector unit", cpu)
    assert finding.state == state
    assert found in finding.found


def test_widgets_need_the_extension(tmp_path):
    for extension, package, _ in doctor.LAB_EXTENSIONS:
        finding = doctor.widgets("widgets", [tmp_path])
        assert finding.state == "problem" and package in finding.remedy
        (tmp_path / extension).mkdir(parents=True)
    assert doctor.widgets("widgets", [tmp_path]).state == "ok"


@pytest.mark.parametrize(
    ("present", "state"),
    [
        ({"chromium": "/c", "chromedriver": "/d"}, "ok"),
        ({"google-chrome": "/c", "chromedriver": "/d"}, "ok"),
        ({"chromium": "/c"}, "warn"),
        ({}, "warn"),
    ],
    ids=str,
)
def test_a_missing_browser_is_no_problem(present, state, monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", present.get)
    finding = doctor.browser("browser test")
    assert finding.state == state
    assert state == "ok" or "apt-get install" in finding.remedy


def broken(name):
    raise ImportError("libthing.so.13: cannot open shared object file\nsecond line")


def test_what_a_check_raises_becomes_a_problem_with_the_remedy_of_its_row():
    rows = [Check("thing", broken, "reinstall thing"), Check("Python", doctor.python_version, "x")]
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


@pytest.mark.parametrize("check", doctor.CHECKS, ids=lambda check: check.name)
def test_this_machine_is_fit(check):
    problems = [finding for finding in doctor.examine([check]) if finding.state == "problem"]
    assert not problems, "\n" + doctor.as_text(problems)


@pytest.mark.parametrize(("platform", "state"), [("linux", "problem"), ("win32", "warn"), ("darwin", "warn")])
def test_triton_is_missed_only_where_it_can_be_had(platform, state, monkeypatch):
    from helpers.vgpu.base.errors import Unsupported
    from helpers.vgpu.standins import triton

    def missing():
        raise Unsupported(triton.missing(platform))

    monkeypatch.setattr(triton, "installed", missing)
    found = doctor.triton_compiler("Triton", platform)
    assert found.state == state and found.remedy


def test_the_cache_is_shown_and_what_keeps_it_from_being_used(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPBOOK_CACHE", str(tmp_path / "kept"))
    on_disk.kept("thing", (), ("x",), lambda: bytes(99_968))
    finding = doctor.cache("cache")
    assert (finding.state, finding.found) == ("ok", f"1 entries, 0.1 MB of compiled code in {tmp_path / 'kept'}")
    (tmp_path / "file").touch()
    monkeypatch.setenv("WARPBOOK_CACHE", str(tmp_path / "file"))
    finding = doctor.cache("cache")
    assert finding.state == "warn" and finding.remedy == "Set WARPBOOK_CACHE to another folder."
    monkeypatch.setenv("WARPBOOK_CACHE", "off")
    assert doctor.cache("cache").found == "compiled code is not kept (WARPBOOK_CACHE=off)"
