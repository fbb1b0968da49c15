"""The `warpbook` command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from helpers import cli
from helpers.grading.formats import SUMMARIES
from helpers.grading.report import FORMATS
from helpers.workbook import doctor
from helpers.workbook.checks import Finding
from vgpu.base import on_disk


def warpbook(*arguments: str, cwd=None) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "helpers.cli", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_help_lists_every_command(root):
    shown = warpbook("--help", cwd=root)
    assert shown.returncode == 0
    words = " ".join(shown.stdout.split())  # where a line is broken is argparse's affair
    for command in cli.every_command():
        assert f" {command.name} {command.summary}" in words
    assert "exit status" in shown.stdout


@pytest.mark.parametrize("command", cli.every_command(), ids=lambda command: command.name)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([command.name, "--help"])
    assert stop.value.code == 0
    assert command.summary in " ".join(capsys.readouterr().out.split())


HEAVY = (
    "numpy",
    "llvmlite",
    "numba",
    "nbformat",
    "nbclient",
    "IPython",
    "helpers.grading.report",
    "vgpu.hardware",
    "vgpu.launch",
)


@pytest.mark.parametrize("word", ["--help", *(each.name for each in cli.every_command())])
def test_a_command_line_is_read_without_heavy_imports(word):
    """What a command needs is imported when it runs."""
    code = (
        f"import sys; from helpers import cli; cli.build_parser([{word!r}]); "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_report_lists_the_formats_that_there_are():
    assert list(SUMMARIES) == list(FORMATS)


def test_output_that_nothing_reads_is_no_traceback(root):
    command = [sys.executable, "-m", "helpers.cli", "progress"]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
        ran.stdout.close()
        assert ran.stderr.read() == b""
    assert ran.returncode == cli.STOPPED_READING


@pytest.mark.parametrize("arguments", [[], ["fly"], ["lab", "--port", "x"]], ids=lambda a: " ".join(a) or "none")
def test_what_is_not_understood_exits_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    assert "usage: warpbook" in capsys.readouterr().err


def test_a_folder_without_notebooks_is_told_where_to_go(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("helpers.checking.learner_state.HERE", tmp_path)
    assert cli.main(["lab"]) == 2
    assert "the one with README.md" in capsys.readouterr().err


def test_a_missing_notebook_is_named(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    assert cli.main(["lab", "notebooks/99_nothing.ipynb"]) == 2
    assert "99_nothing.ipynb" in capsys.readouterr().err


def test_the_project_is_found_from_inside_it(root, monkeypatch):
    monkeypatch.chdir(root / "notebooks")
    assert cli.project_folder() == root


@pytest.mark.parametrize(("state", "status"), [("ok", 0), ("warn", 0), ("problem", 1)])
def test_doctor_exits_by_its_worst_finding(state, status, monkeypatch, capsys):
    finding = Finding("thing", state, "found", "" if state == "ok" else "mend it")
    monkeypatch.setattr(doctor, "examine_apart", lambda: [finding])
    assert cli.main(["doctor"]) == status
    assert "thing" in capsys.readouterr().out
    assert cli.main(["doctor", "--json"]) == status
    assert json.loads(capsys.readouterr().out)[0]["state"] == state


def test_test_hands_on_its_arguments_and_the_exit_status(root, monkeypatch):
    calls = []
    monkeypatch.setattr(cli, "call", lambda command, cwd=None: calls.append((command, cwd)) or 5)
    monkeypatch.chdir(root)
    assert cli.main(["test", "--", "-k", "doctor"]) == 5
    assert calls == [([sys.executable, "-m", "pytest", "--tier", "test", "-k", "doctor"], root)]


@pytest.mark.parametrize(("asked", "tier"), [(["--check"], "check"), ([], "test"), (["--all"], "all")])
def test_a_tier_is_one_run_on_all_cores(root, monkeypatch, asked, tier):
    calls = []
    monkeypatch.setattr(cli, "call", lambda command, cwd=None: calls.append(command) or 1)
    monkeypatch.chdir(root)
    assert cli.main(["test", *asked]) == 1
    assert [call[3:7] for call in calls] == [["--tier", tier, "-n", str(cli.PROCESSES)]]


def test_notebooks_are_stored_only_when_they_are_well(tmp_path, capsys):
    from tests.workbook.made import code, written

    good = written(tmp_path, code("6 * 7"), name="01_good.ipynb")
    bad = written(tmp_path, code("6 * 7\n1 / 0"), name="02_bad.ipynb")
    before = bad.read_bytes()
    assert cli.main(["notebooks", str(good), str(bad), "--store"]) == 1
    assert '"42"' in good.read_text() and bad.read_bytes() == before
    shown = capsys.readouterr().out
    assert "01_good.ipynb: ok" in shown and "02_bad.ipynb: 1 problem" in shown and "ZeroDivisionError" in shown
    assert cli.main(["notebooks", str(good)]) == 0


def test_call_gives_the_exit_status():
    assert cli.call([sys.executable, "-c", "raise SystemExit(3)"]) == 3


def test_what_stops_a_command_stops_its_program():
    """As `docker stop` does, or a service manager: else JupyterLab would go on by itself."""
    child = "import time; print('ready', flush=True); time.sleep(600)"
    code = f"import sys; from helpers import cli; sys.exit(cli.call([sys.executable, '-c', {child!r}]))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        assert process.wait(60) == -signal.SIGTERM % 256


def test_doctor_empties_the_cache(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("VGPU_CACHE", str(tmp_path / "kept"))
    on_disk.kept("thing", (), ("x",), lambda: b"")
    entries, _ = on_disk.size()  # with that of the engine's sources, in a process that hasn't asked for it before
    assert entries in (1, 2)
    assert cli.main(["doctor", "--empty-cache"]) == 0
    assert capsys.readouterr().out == f"{entries} entries removed from {tmp_path / 'kept'}.\n"
    assert on_disk.size() == (0, 0)
    monkeypatch.setenv("VGPU_CACHE", __file__)
    assert cli.main(["doctor", "--empty-cache"]) == 2
    assert "Set VGPU_CACHE to another folder" in capsys.readouterr().err
