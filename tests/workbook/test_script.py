"""A chapter as a plain script: what only a notebook can do is left out, what cells show is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import cli
from helpers.results import timing
from helpers.workbook.script import as_script
from tests.workbook.made import code, text, written
from vgpu.base import profiler

ROOT = Path(__file__).resolve().parents[2]


def script(tmp_path, *cells, **options) -> str:
    return as_script(written(tmp_path, text("# A title"), code("import math"), *cells), **options)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\nx + 1", "x = 1\nprint(x + 1)\n"),
        ("1, 2", "print((1, 2))\n"),
        ("(1, 2)", "print((1, 2))\n"),
        ("print(3)", "print(3)\n"),
        ("math.sqrt(\n    4\n)", "print(math.sqrt(\n    4\n))\n"),
        ("x = 1", "x = 1\n"),
        ("math.pi;", "math.pi;\n"),
        ("1 + 1  # two", "print(1 + 1  # two\n)\n"),
        ("predict('?', key='k')", "# predict('?', key='k')  (in the notebook)\n"),
        ("widgets.sectors(copy)\nx = 1", "# widgets.sectors(copy)  (in the notebook)\nx = 1\n"),
        ("predictable(1)", "print(predictable(1))\n"),
        ("%timeit 1", "# %timeit 1  (no plain Python)\n"),
        (
            "%%writefile $folder/one.py\nx = 1",
            "with open(f\"{folder}/one.py\", \"w\", encoding=\"utf-8\") as file:\n    file.write(r'''x = 1\n''')\n",
        ),
        (
            "%%writefile -a $folder/one.py\nx = 1",
            "with open(f\"{folder}/one.py\", \"a\", encoding=\"utf-8\") as file:\n    file.write(r'''x = 1\n''')\n",
        ),
        ("'''a\nb'''", "print('''a\nb''')\n"),
    ],
)
def test_a_cell(tmp_path, source, expected):
    assert script(tmp_path, code(source), timed=True).endswith("import math\n\n" + expected)


def test_headings_stand_over_their_code_and_exercises_are_left_out(tmp_path):
    cells = [text("## First\n\nwords"), code("1"), text("## Exercises"), code("check(x, 'k')", "exercise")]
    made = script(tmp_path, *cells)
    assert "\n# --- First\n\nprint(1)\n" in made
    assert "check" not in made and "Exercises" not in made


def test_an_error_that_is_meant_goes_on(tmp_path):
    made = script(tmp_path, code("1 / 0", "raises-exception"), code("'after'"), timed=True)
    done = subprocess.run([sys.executable, "-c", made], capture_output=True, text=True, timeout=60)
    assert done.stdout == "ZeroDivisionError division by zero\nafter\n"


def test_benchmark_launches_once_unless_timed(tmp_path, monkeypatch):
    assert "launch_once()" in script(tmp_path) and "launch_once()" not in script(tmp_path, timed=True)
    monkeypatch.setattr(profiler, "_PROFILED", False)
    profiler.launch_once()
    runs = []
    result = timing.benchmark(lambda: runs.append(1), repeat=20, warmup=3)
    assert len(runs) == 1 == len(result.samples) and result.warmup == 0


@pytest.mark.slow
def test_a_chapter_runs_as_a_script(tmp_path):
    command = [sys.executable, "-m", "helpers.cli", "script", "04"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    made = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert made.returncode == 0 and not made.stderr
    path = tmp_path / "ch04.py"
    path.write_text(made.stdout, encoding="utf-8")
    done = subprocess.run([sys.executable, str(path)], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "The answer is 8." in done.stdout and "Sectors per request as the stride goes from 1 to 32" in done.stdout


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")), ids=lambda path: path.stem)
def test_every_chapter_makes_a_script_that_launches(path):
    made = as_script(path)
    compile(made, path.stem, "exec")
    assert "(no plain Python)" not in made and not re.search(r"\bcheck\(", made)  # PyTorch's gradcheck may stand there
    # What ncu should see has to be launched, and not only profiled.
    launches = re.search(r"benchmark\(|ladder\(|kernel\(\(|\w\(\(.*\), \(", made)
    assert launches or not re.search(r"RawKernel|cuda\.jit", made)


def test_display_is_print(tmp_path):
    made = script(tmp_path, code("for x in (1, 2):\n    display(x)\ndisplay(3)"), timed=True)
    done = subprocess.run([sys.executable, "-c", made], capture_output=True, text=True, timeout=60)
    assert done.stdout == "1\n2\n3\n"


def test_a_chapter_that_is_not_there_is_answered_with_those_that_are(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert cli.main(["script", "99"]) == 2
    assert "There are: 00," in capsys.readouterr().err
