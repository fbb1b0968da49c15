"""A small lab for tests that run it: the first two exercises of lab 05, with what a class hands in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from helpers.grading import source
from helpers.grading.merged import solved
from helpers.grading.release import as_bytes, released
from helpers.grading.source import GRADED, Lab

ROOT = Path(__file__).parents[2]
(FULL,) = sorted((ROOT / "labs" / "source").glob("lab05*/*.ipynb"))
EXERCISES = ("lab05.total", "lab05.logsumexp")
TOTAL, LOGSUMEXP = "lab05-total", "lab05-logsumexp"

CRASH = "import ctypes\nctypes.string_at(0)"
DOES_NOTHING = (
    'total = cp.RawKernel("""extern \\"C\\" __global__ void total(const float* x, float* out, int n) {}""", "total")'
)

CLASS: Mapping[str, Mapping[str, str] | None] = {
    "good": {},
    "half": {TOTAL: DOES_NOTHING},
    "broken": {TOTAL: "def total(:"},
    "crashing": {TOTAL: CRASH},
    "endless": {LOGSUMEXP: "while True:\n    pass"},
    "untouched": None,
}
"""Student -> the answers that are not the author's; None for who hands in what was handed out."""


def lab(exercises: tuple[str, ...] = EXERCISES) -> Lab:
    """Lab 05 with some of its exercises only."""
    return source.read(FULL).only(exercises)


def written(folder: Path, made: Lab) -> Path:
    """The author's notebook as a file below `folder`."""
    path = folder / made.name / f"{made.name}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(made.notebook), encoding="utf-8")
    return path


def handed_in(folder: Path, made: Lab, students: Mapping[str, Mapping[str, str] | None] = CLASS) -> Path:
    """What a class hands in, as files in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for student, answers in students.items():
        notebook = released(made) if answers is None else solved(made, answers)
        (folder / f"{student}.ipynb").write_bytes(as_bytes(notebook))
    return folder


def points(made: Lab, exercise: str) -> float:
    """What an exercise is worth."""
    return sum(cell.points for cell in made.cells if cell.kind == GRADED and cell.probe.exercise == exercise)
