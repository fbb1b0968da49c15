"""A hosted notebook: what the service has installed stays, and the notebook goes on with the course's environment."""

from __future__ import annotations

import ast
import sys
import time

import pytest
from jupyter_client.manager import start_new_kernel

from helpers.workbook import hosted, packages

PROGRAM = """
import runpy
become = runpy.run_path({path!r})["become"]
become.__globals__["PYTHON"] = {python!r}
from ipykernel.connect import get_connection_file
become(get_connection_file())
"""
LOOK = "[os.getpid(), os.environ.get('ENVIRONMENT'), os.environ['VGPU_BACKEND'], os.environ.get('PYTHONPATH')]"


@pytest.fixture
def calls(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(hosted, "ENVIRONMENT", tmp_path / "environment")
    monkeypatch.setattr(hosted, "PYTHON", hosted.ENVIRONMENT / "bin" / "python")
    monkeypatch.setattr(hosted.subprocess, "run", lambda command, **_: made.append([str(word) for word in command]))
    return made


def test_the_environment_is_made_once_and_brought_up_to_date_each_time(calls):
    hosted.make()
    python = str(hosted.PYTHON)
    pip, torch, install = calls
    assert pip[:6] == torch[:6] == [sys.executable, "-m", "pip", "--python", python, "install"]
    assert torch[-5:] == ["--constraint", str(packages.PINS), "--index-url", f"{packages.TORCH_BUILDS}cpu", "torch"]
    assert install == [python, "-m", "helpers.workbook.install"]
    assert not (hosted.ENVIRONMENT / "bin" / "pip").exists(), "some services' Python has no ensurepip"
    extras = {extra for _, extras in packages.OURS.values() for extra in extras}
    assert set((hosted.ENVIRONMENT / packages.LEFT_OUT.name).read_text().split()) < extras
    hosted.make()
    assert calls[3:] == [install]


def _value(kernel, expression):
    """What an expression is in the kernel; None while no answer comes, as when the kernel begins again."""
    try:
        reply = kernel.execute("import os", user_expressions={"it": expression}, reply=True, timeout=5)
    except TimeoutError:
        return None
    return ast.literal_eval(reply["content"]["user_expressions"]["it"]["data"]["text/plain"])


@pytest.mark.slow
def test_the_kernel_goes_on_with_the_environments_python(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(packages.ROOT))
    monkeypatch.delenv("VGPU_BACKEND", raising=False)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nENVIRONMENT=ours exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    manager, kernel = start_new_kernel(startup_timeout=60)
    try:
        before = _value(kernel, "os.getpid()")
        program = PROGRAM.format(path=hosted.__file__, python=str(python))
        reply = kernel.execute(program, reply=True, timeout=30)
        assert reply["content"]["status"] == "ok", reply["content"]
        time.sleep(hosted.REPLY_SECONDS + 1)
        answers = (_value(kernel, LOOK) for _ in range(10))
        found = next(answer for answer in answers if answer)
        assert found == [before, "ours", "virtual", None]
        assert _value(kernel, "os.getcwd()") == str(packages.ROOT / "notebooks")
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
