"""The same labs with nbgrader, unmodified: the learner's file is the same, answers earn all points, stubs none."""

from __future__ import annotations

import copy
import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from helpers.grading import source
from helpers.grading.merged import solved
from helpers.grading.release import as_bytes, released
from tests.grading.made_lab import NAME, code, notebook, text, written

ROOT = Path(__file__).parents[2]
LABS = {path.stem: path for path in sorted((ROOT / "labs" / "source").glob("*/*.ipynb"))}

pytestmark = pytest.mark.slow


@dataclass
class Course:
    """A folder with nbgrader_config.py and one lab."""

    folder: Path
    lab: source.Lab

    @property
    def learners(self) -> Path:
        return self.folder / "labs" / self.lab.name / f"{self.lab.name}.ipynb"

    def nbgrader(self, *arguments: str) -> subprocess.CompletedProcess:
        # nbgrader calls alembic, which it looks for as a shell would.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": str(self.folder)}
        command = [sys.executable, "-m", "nbgrader", *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=600, check=False
        )

    def hand_in(self, student: str, made: dict) -> Path:
        path = self.folder / "submitted" / student / self.lab.name / f"{self.lab.name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(as_bytes(made))
        return path

    def validated(self, student: str) -> str:
        """What `nbgrader validate` says of the notebook of a student."""
        return self.nbgrader("validate", f"submitted/{student}/{self.lab.name}/{self.lab.name}.ipynb").stdout

    def grades(self) -> dict[str, tuple[float, float]]:
        """Points and the most points by student."""
        exported = self.nbgrader("export")
        assert exported.returncode == 0, exported.stderr
        with (self.folder / "grades.csv").open(encoding="utf-8", newline="") as opened:
            return {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(opened)}


def course(folder: Path, write) -> Course:
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    made = Course(folder, source.read(write(folder / "labs" / "source")))
    generated = made.nbgrader("generate_assignment", made.lab.name)
    assert generated.returncode == 0, generated.stderr
    return made


def copied(path: Path, folder: Path) -> Path:
    return Path(shutil.copytree(path.parent, folder / path.stem)) / path.name


WRITERS = {NAME: written} | {name: partial(copied, path) for name, path in LABS.items()}
WHOLE = "lab01_maps"
"""The lab that goes the whole way whenever tests are run, as nbgrader sees no difference between them."""


def named(names: Iterable[str]) -> list:
    return [pytest.param(name, marks=[] if name == WHOLE else pytest.mark.exhaustive) for name in names]


@pytest.fixture(scope="module", params=named(WRITERS))
def graded(request, tmp_path_factory):
    """A course whose one student solved the lab, while another handed it in as it was given out."""
    made = course(tmp_path_factory.mktemp(request.param), WRITERS[request.param])
    made.hand_in("solved", solved(made.lab))
    made.hand_in("untouched", released(made.lab))
    done = made.nbgrader("autograde", made.lab.name)
    assert done.returncode == 0, done.stderr
    return made


def test_nbgrader_generates_the_same_bytes(graded):
    assert graded.learners.read_bytes() == as_bytes(released(graded.lab))


def test_answers_earn_all_points_and_stubs_none(graded):
    most = graded.lab.out_of
    assert graded.grades() == {"solved": (most, most), "untouched": (0, most)}


def test_nbgrader_writes_feedback(graded):
    done = graded.nbgrader("generate_feedback", graded.lab.name)
    assert done.returncode == 0, done.stderr
    for student in ("solved", "untouched"):
        page = graded.folder / "feedback" / student / graded.lab.name / f"{graded.lab.name}.html"
        assert graded.lab.graded[0].grade_id in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [NAME, pytest.param("lab08_streams", marks=pytest.mark.exhaustive)])
def test_nbgrader_validates_what_is_solved(name, tmp_path):
    """Two of them: it runs a notebook as autograde does above, which has every lab."""
    made = Course(tmp_path, source.read(WRITERS[name](tmp_path / "labs" / "source")))
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    made.hand_in("solved", solved(made.lab))
    assert made.validated("solved").startswith("Success! Your notebook passes all the tests.")


def test_nbgrader_finds_what_is_not_solved_invalid(tmp_path):
    made = Course(tmp_path, source.read(written(tmp_path / "labs" / "source")))
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    made.hand_in("untouched", released(made.lab))
    assert "VALIDATION FAILED ON 3 CELL(S)" in made.validated("untouched")


# -- what a notebook may hold besides -------------------------------------------------------------------


def odd(folder: Path) -> Path:
    """The made-up lab with whatever Jupyter and other programs leave in notebooks."""
    made = notebook()
    made["metadata"] |= {"celltoolbar": "Create Assignment", "orig_nbformat": 3, "signature": "x"}
    picture = {"a.svg": {"image/svg+xml": "<svg>\n</svg>"}, "b.png": {"image/png": "AA\nBB"}}
    made["cells"] += [
        text(13, "windows\r\nlines \u2028 and é", tags=["π"]) | {"attachments": picture},
        code(14, "", collapsed=True, scrolled="auto", trusted=True),
        code(15, "x = 1\n\n", jupyter={"source_hidden": True}),
        {"cell_type": "raw", "id": "raw-1", "metadata": {"format": "text/html"}, "source": "<b>\n"},
    ]
    made["cells"][4]["metadata"] |= {"deletable": True, "editable": True}
    made["cells"][8]["metadata"]["nbgrader"] |= {"checksum": "0" * 32, "cell_type": "code"}
    made["cells"][6]["metadata"]["nbgrader"]["points"] = 2.25
    return written(folder, made)


def test_the_bytes_are_the_same_whatever_the_notebook_holds(tmp_path):
    made = course(tmp_path, odd)
    assert made.learners.read_bytes() == as_bytes(released(made.lab))


def without(made: dict, *ids: str) -> dict:
    kept = [cell for cell in made["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") not in ids]
    return {**copy.deepcopy(made), "cells": kept}


def test_nbgrader_puts_deleted_graded_cells_back_or_says_that_it_can_not(tmp_path):
    made = course(tmp_path, written)
    made.hand_in("deleted", without(solved(made.lab), "made01-doubled-results", "made01-doubled-sectors-per-request"))
    made.hand_in("after-locked", without(solved(made.lab), "made01-total-results"))
    done = made.nbgrader("autograde", made.lab.name)
    assert done.returncode != 0 and "for student 'after-locked'" in done.stderr
    assert made.grades()["deleted"] == (6.5, 6.5)
