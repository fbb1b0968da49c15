"""What `warpbook lab` starts: the command line, the settings, and the page where it begins."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from helpers import cli
from helpers.checking import learner_state
from helpers.workbook import room
from helpers.workbook.command import UsageProblem
from helpers.workbook.progress import progress
from tests.workbook.made import code, text, written

ROOT, START = Path("/book"), Path("/book/notebooks/00_start_here.ipynb")


@pytest.mark.parametrize(
    ("machine", "expected", "unexpected"),
    [
        (dict(is_root=True, has_display=False), {"--allow-root", "--no-browser"}, set()),
        (dict(is_root=False, has_display=True), set(), {"--allow-root", "--no-browser"}),
        (dict(is_root=False, has_display=False), {"--no-browser"}, {"--allow-root"}),
        (dict(is_root=False, has_display=True, no_browser=True), {"--no-browser"}, {"--allow-root"}),
        (dict(is_root=True, has_display=True, port=9001), {"--allow-root", "--port=9001"}, {"--no-browser"}),
    ],
)
def test_it_suits_the_machine(machine, expected, unexpected):
    command = room.command(ROOT, START, **machine)
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert "--LabApp.default_url=/doc/tree/notebooks/00_start_here.ipynb" in command
    assert expected <= set(command)
    assert not unexpected & set(command)


@pytest.mark.parametrize(
    ("platform", "variables", "present"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("linux", {"DISPLAY": ""}, False),
        ("win32", {}, True),
        ("darwin", {}, True),
    ],
)
def test_display(platform, variables, present):
    assert room.display_present(platform, variables) is present


def test_a_learner_has_the_rooms_settings_before_the_machines(root, monkeypatch, capsys):
    started = []
    monkeypatch.setattr(cli, "call", lambda command, **how: started.append((command, how["environment"])) or 0)
    monkeypatch.chdir(root)
    for before, after in (("", str(room.LEARNER)), ("/mine", f"{room.LEARNER}{os.pathsep}/mine")):
        monkeypatch.setenv("JUPYTER_CONFIG_PATH", before)
        assert cli.main(["lab", "notebooks/04_coalescing.ipynb"]) == 0
        command, variables = started.pop()
        assert "--LabApp.default_url=/doc/tree/notebooks/04_coalescing.ipynb" in command
        assert f"--LabApp.extra_labextensions_path={room.EXTENSIONS}" in command
        assert variables["JUPYTER_CONFIG_PATH"] == after
    capsys.readouterr()
    assert cli.main(["lab", "--teacher"]) == 0
    assert "nbgrader isn't installed" not in capsys.readouterr().out
    command, variables = started.pop()
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in command
    assert f"--LabApp.extra_labextensions_path={room.EXTENSIONS}" in command
    assert variables["JUPYTER_CONFIG_PATH"] == "/mine"
    monkeypatch.setattr(cli, "find_spec", lambda name: None)
    cli.main(["lab", "--teacher"])
    assert "pip install nbgrader" in capsys.readouterr().out


def test_it_goes_on_where_the_learner_is(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPBOOK_STATE", str(tmp_path / "state"))
    notebooks = tmp_path / "notebooks"
    lab = tmp_path / "labs" / "lab01_maps"
    notebooks.mkdir(), lab.mkdir(parents=True)
    for number in range(3):
        cell = code(f'predict("?", key="ch{number}-a")\ncheck(f, "ch{number}.one")')
        written(notebooks, text("# Title"), cell, name=f"{number:02d}_chapter.ipynb")
    written(lab, text("# Lab 01"), code('check(f, "lab01.one")'), name="lab01_maps.ipynb")

    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageProblem, match="no chapter"):
        room.page(empty)

    def begins() -> str:
        page, step = room.page(notebooks), progress(notebooks).step
        assert step == "All done." or f"chapter {page.name[:2]}:" in step  # `lab` and `progress` agree
        return page.name[:2]

    assert begins() == "00"
    learner_state.keep(learner_state.PREDICTIONS, "ch1-a", said=1, right=True)  # what was left out in 00 stays out
    assert begins() == "01"
    learner_state.keep(learner_state.EXERCISES, "ch1.one", passed="2026-01-02")
    assert begins() == "02"
    learner_state.keep(learner_state.EXERCISES, "lab01.one", passed="2026-01-02")
    assert begins() == "02"
    written(lab, text("# Lab 01"), code('check(f, "lab01.one")\ncheck(f, "lab01.two")'), name="lab01_maps.ipynb")
    assert room.page(notebooks).name == "lab01_maps.ipynb"  # begun, and no chapter is open before it
    learner_state.keep(learner_state.EXERCISES, "lab01.two", passed="2026-01-02")
    learner_state.keep(learner_state.PREDICTIONS, "ch2-a", said=1, right=True)
    learner_state.keep(learner_state.EXERCISES, "ch2.one", passed="2026-01-02")
    assert begins() == "00" and progress(notebooks).step.startswith("Next, in chapter 00")  # nothing else is left
    for key in ("ch0-a", "ch1-a"):
        learner_state.keep(learner_state.PREDICTIONS, key, said=1, right=True)
    learner_state.keep(learner_state.EXERCISES, "ch0.one", passed="2026-01-02")
    assert begins() == "02" and progress(notebooks).step == "All done."
