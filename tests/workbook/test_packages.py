"""The packages of an environment against the pins, and what pip is made to do about it."""

from __future__ import annotations

import io
import os
import sys

import pytest

from helpers.workbook import checks, install, packages
from helpers.workbook.packages import Installed


def there(**versions: str) -> dict[str, Installed]:
    return {name: Installed(name, version, packages.ROOT, {}) for name, version in versions.items()}


def test_pins_are_read():
    text = "# comment\nnumpy==2.4.6\n\nCUDA_bindings==13.5.0  # why\nnot a pin\n"
    assert packages.read_pins(text) == {"numpy": "2.4.6", "cuda-bindings": "13.5.0"}


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        (there(numpy="2.4.6", idna="3.20"), []),
        (there(numpy="2.4.6+cpu", idna="3.20.0"), []),  # a build, and another spelling
        (there(numpy="2.4.6"), []),  # a pin that this platform does not need
        (there(idna="3.20"), [("numpy", True)]),
        (there(numpy="2.3.0", idna="3.20"), [("numpy", True)]),
        (there(numpy="2.4.6", idna="3.1"), [("idna", False)]),
        (there(idna="3.1"), [("idna", False), ("numpy", True)]),
    ],
    ids=str,
)
def test_packages_against_pins(installed, expected):
    faults = packages.faults({"numpy": "2.4.6", "idna": "3.20"}, {"numpy"}, installed)
    assert [(fault.name, fault.serious) for fault in faults] == expected
    assert all(fault.pip == ["install", f"{fault.name}=={fault.wanted.split('==')[1]}"] for fault in faults)


def test_a_direct_dependency_without_a_pin_is_still_looked_for():
    (fault,) = packages.faults({}, {"numpy"}, {})
    assert fault.serious and fault.pip == ["install", "numpy"]


def test_requirements_of_another_platform_do_not_count():
    text = """[project]
    dependencies = ["numpy", "Cuda_Thing[cu13]; sys_platform == 'nowhere'", "tqdm; python_version > '3'"]
    optional-dependencies = {test = ["pytest"], dask = ["distributed"]}"""
    assert packages.read_requirements(text) == {"numpy", "tqdm"}
    assert packages.read_requirements(text, ("test",)) == {"numpy", "tqdm", "pytest"}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of installed packages with one in it: two files, compiled Python, a script."""
    information = tmp_path / "thing-1.0+cpu.dist-info"
    for path in ("thing/__init__.py", "thing/lib/code.so", "thing-1.0+cpu.dist-info/METADATA"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("Metadata-Version: 2.1\nName: Thing\nVersion: 1.0+cpu\n")
    recorded = "thing/__init__.py,,\nthing/lib/code.so,sha256=x,51\nthing/__pycache__/x.cpython-311.pyc,,\n"
    (information / "RECORD").write_text(recorded + "thing-1.0+cpu.dist-info/METADATA,,\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def test_extras_that_are_left_out_are_neither_installed_nor_missed(tmp_path, monkeypatch):
    everything = {name: packages.editable(name) for name in packages.OURS}
    _, direct = packages.read()
    monkeypatch.setattr(packages, "LEFT_OUT", tmp_path / ".without")
    packages.LEFT_OUT.write_text("cupy test\n")
    assert packages.editable("vgpu") == everything["vgpu"].replace("cupy,", "")
    assert packages.editable("warpbook") == f"--editable={packages.ROOT}"
    assert direct - packages.read()[1] >= {"cupy-cuda13x", "nbgrader"}
    looked = []
    monkeypatch.setattr(packages, "failing_imports", lambda modules: looked.extend(modules) or {})
    (found,) = checks.imports("imports")
    assert found.state == "ok"
    assert "torch" in looked and "cupy" not in looked


def test_a_complete_package_is_no_fault(site):
    assert packages.faults({"thing": "1.0"}, set(), packages.installed()) == []


def test_a_package_whose_files_are_gone_is_reinstalled_as_the_build_that_it_was(site):
    (site / "thing" / "lib" / "code.so").unlink()
    (site / "thing" / "lib").rmdir()
    (fault,) = packages.faults({"thing": "1.0"}, set(), packages.installed())
    assert (fault.found, fault.serious) == ("damaged: 1 of its 4 files are missing or cut short", True)
    assert fault.pip == ["install", "--force-reinstall", "--no-deps", "thing==1.0+cpu"]


def test_a_file_that_was_cut_short_is_damage(site):
    (site / "thing" / "lib" / "code.so").write_text("Me")
    (fault,) = packages.faults({"thing": "1.0"}, set(), packages.installed())
    assert fault.damaged and fault.serious


def test_a_build_of_pytorch_is_looked_for_where_pytorch_publishes_it():
    fault = packages.Fault("torch", "damaged", "torch==2.13.0+cpu", serious=True, damaged=True)
    where = ["--extra-index-url", "https://download.pytorch.org/whl/cpu"]
    assert fault.pip == ["install", "--force-reinstall", "--no-deps", *where, "torch==2.13.0+cpu"]
    assert list(install.calls([fault])) == [fault.pip]
    assert packages.Fault("torch", "damaged", "torch==2.13.0", True, True).index == []


def test_an_environment_without_pip_is_given_it(monkeypatch, tmp_path):
    monkeypatch.setattr(packages, "has_pip", lambda: False)
    python, line = packages.pip_line(["install", "x==1"]).split(" -m ensurepip && ")
    assert line == f'{python} -m pip install "x==1"'
    called = []
    monkeypatch.setattr(install, "LOG", tmp_path / "log")
    monkeypatch.setattr(install.subprocess, "run", lambda command, **_: called.append(command[1:]))
    install.pip(["--version"])
    assert called == [["-m", "ensurepip"]]


def test_this_environment_is_complete():
    assert [fault for fault in packages.all_faults() if fault.serious] == []


def test_an_import_that_crashes_python_hides_no_other(tmp_path, monkeypatch):
    (tmp_path / "crashes.py").write_text("import os; print('noise'); os.abort()")
    (tmp_path / "fails.py").write_text("raise OSError('libthing.so: cannot\\nopen')")
    (tmp_path / "exits.py").write_text("raise SystemExit(3)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    failing = packages.failing_imports(["json", "crashes", "fails", "re", "exits"])
    assert failing == {
        "crashes": "Python crashed, exit status -6",
        "fails": "OSError: libthing.so: cannot open",
        "exits": "SystemExit: 3",
    }


# -- pip ------------------------------------------------------------------------------------------------


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """pip's calls, and a folder for the stamp and the log; `broken` is how the next looks find the packages."""
    calls, broken = [], []
    monkeypatch.setattr(install, "STAMP", tmp_path / ".installed")
    monkeypatch.setattr(install, "pip", lambda arguments: calls.append(arguments) or 0)
    monkeypatch.setattr(install, "_faults", lambda: broken.pop(0) if broken else [])
    monkeypatch.setattr(install, "_moved", lambda: False)
    return calls, broken


def test_all_is_installed_once_and_again_when_a_pin_changes(environment, tmp_path, monkeypatch):
    calls, _ = environment
    assert install.install() == 0 and install.install() == 0
    assert calls == [install.WHOLE]
    pins = tmp_path / "constraints.txt"
    pins.touch()
    monkeypatch.setattr(install, "PINS", pins)
    os.utime(pins, (2**32, 2**32))
    assert install.install() == 0 and len(calls) == 2


def test_an_environment_that_was_copied_is_installed_anew(environment, monkeypatch):
    calls, _ = environment
    install.STAMP.touch()
    os.utime(install.STAMP, (2**32, 2**32))
    assert install.install() == 0 and calls == []
    monkeypatch.setattr(install, "_moved", lambda: True)
    assert install.install() == 0 and calls == [install.WHOLE]


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("#!{}/bin/python\nimport re", False),
        ("#!/bin/sh\n'''exec' \"{}/bin/python3.11\" \"$0\" \"$@\"\n' '''", False),
        ("#!/tmp/elsewhere/.venv/bin/python\n", True),
        (None, True),
    ],
    ids=["here", "here, with spaces", "elsewhere", "none"],
)
@pytest.mark.skipif(sys.platform == "win32", reason="programs, not scripts")
def test_where_the_command_was_installed_is_read_from_it(text, moved, tmp_path):
    script = tmp_path / "warpbook"
    if text:
        script.write_text(text.format(sys.prefix))
    assert install._moved(script) is moved


def test_what_is_damaged_or_missing_is_repaired_and_looked_at_again(environment, capsys):
    calls, broken = environment
    install.STAMP.touch()
    found = packages.faults({"a": "1", "b": "2"}, {"a", "b"}, {})
    broken += [found, []]
    assert install.repair() == 0 and "Repaired" in capsys.readouterr().out
    assert calls == [["install", "--constraint", str(install.PINS), "a==1", "b==2"]]
    broken += [found, found]
    assert install.repair() == 1 and "Still not right: a, b" in capsys.readouterr().out


SAID = """\
Collecting numba==0.68.1
  Downloading numba-0.68.1-cp311-cp311-manylinux.whl (3.8 MB)
INFO: pip is looking at multiple versions of nbconvert
ERROR: Cannot install beautifulsoup4 because these package versions have conflicting dependencies.

The conflict is caused by:
    beautifulsoup4 4.15.0 depends on soupsieve>=1.6.1
    The user requested (constraint) soupsieve==4.1.1
"""


def test_pips_own_reason_is_shown_when_it_fails(monkeypatch, capsys, tmp_path):
    pip = tmp_path / "pip"
    pip.mkdir()
    (pip / "__init__.py").touch()
    (pip / "__main__.py").write_text(f"import sys\nprint({SAID!r})\nsys.exit(1)")
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(install, "LOG", tmp_path / "log")
    assert install.pip(["install", "numba"]) == 1
    shown = capsys.readouterr().out
    assert "downloading numba (3.8 MB)" in shown or "finding numba" in shown
    assert "constraint) soupsieve==4.1.1" in shown and "conflicting" in shown and str(tmp_path / "log") in shown
    assert (tmp_path / "log").read_text().startswith("Collecting numba")


def test_a_terminal_sees_one_line_that_moves(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    line = install.Line(terminal, seconds=0.001)
    line("  Downloading torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl (530.1 MB)\n")
    while "torch" not in terminal.getvalue():
        line.over.wait(0.001)
    line.close()
    assert "downloading torch (530.1 MB)" in terminal.getvalue() and "\n" not in terminal.getvalue()
