"""The project in examples/: its tests and its CUDA C++ program, as its README and its workflow run them."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest

from vgpu.programs.cuda_c import build

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-m", *arguments]
    return subprocess.run(command, cwd=EXAMPLES, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("options", [(), ("--vgpu-schedules", "5")], ids=["budgets", "schedules"])
def test_its_tests_pass_without_a_gpu(options):
    installed = importlib.metadata.entry_points(group="pytest11", name="vgpu")
    plugin = [] if installed else ["-p", "vgpu.programs.pytest_plugin"]
    done = run("pytest", *plugin, "-p", "no:cacheprovider", "--vgpu", "-q", *options)
    assert done.stdout.splitlines()[-1].startswith("5 passed"), done.stdout


@pytest.mark.skipif(build.compiler() is None, reason="needs a C++ compiler: install g++ or clang++")
def test_its_program_is_right():
    done = run("vgpu", "sanitize", "saxpy.cu")
    assert done.returncode == 0 and done.stdout.startswith("0 of 10000 are wrong: no error\n"), done.stderr


def test_its_workflow_runs_what_its_readme_says():
    workflow = (EXAMPLES / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"- run: (.+)", workflow)
    assert len(commands) == 4 and all(command in readme for command in commands)
