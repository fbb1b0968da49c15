"""Who may import whom in helpers/: arrows run one way, heavy packages wait until they are used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vgpu.tests.arrows import Package

ROOT = Path(__file__).resolve().parent.parent
WORKBOOK = Package(
    "helpers",
    ROOT / "helpers",
    (
        "data",
        "results",
        "models",
        "pictures.figures",
        "pictures.contents",
        "pictures.plots",
        "pictures.chapters",
        "pictures.training",
        "pictures.report",
        "pictures.widgets",
        "checking",
        "exercises",
        "grading",
        "workbook",
        "site",
        "cli",
    ),
)
DOORS = ("helpers.pictures",)
CIRCLES = {"workbook.authoring.validation": "the page tells of the report that prints it"}
# What may only be imported in certain files, as (module, the files, why).
ONLY_IN = (
    ("llvmlite", (), "only the engine makes machine code"),
    ("matplotlib", ("pictures/", "data/glyphs.py"), "results are numbers; its fonts are a source of shapes"),
    (
        "ipywidgets",
        ("pictures/widgets/", "checking/predict.py", "workbook/checks.py"),
        "only explorers have controls",
    ),
    ("anywidget", ("pictures/widgets/draggable.py",), "one view acts in the browser itself"),
)
HEAVY = (
    "numba",
    "cupy",
    "matplotlib",
    "torch",
    "triton",
    "ipywidgets",
    "anywidget",
    "llvmlite",
    "cuda",
    "IPython",
    "jupyterlab",
)


def test_arrows_run_one_way():
    assert WORKBOOK.climbing(DOORS) == []


def test_every_folder_says_in_a_line_what_it_is_for():
    of_an_exercise = lambda folder: any((above / "exercise.toml").exists() for above in (folder, folder.parent))
    assert WORKBOOK.unexplained(but_for=of_an_exercise) == []


def test_no_file_is_loose():
    assert sorted(path.name for path in WORKBOOK.folder.glob("*.*")) == ["API.md", "__init__.py", "cli.py"]


def test_circles_stay_within_a_folder_and_have_a_reason():
    found = WORKBOOK.circles()
    assert sorted(found) == sorted(CIRCLES), found


@pytest.mark.parametrize(("module", "files", "why"), ONLY_IN, ids=[row[0] for row in ONLY_IN])
def test_imported_in_its_own_place_only(module, files, why):
    assert WORKBOOK.strays(module, files) == [], f"{module} belongs in {', '.join(files)}: {why}"


def test_importing_helpers_stays_cheap(tmp_path):
    code = f"import sys, helpers; print([name for name in {HEAVY!r} if name in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
