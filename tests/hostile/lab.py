"""The labs that are attacked: of each book some exercises, without the cells that only show something."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from helpers.grading import source
from helpers.grading.regions import SOLUTION as SOLUTION_MARK
from helpers.grading.regions import unmarked
from helpers.grading.source import GRADED, SOLUTION, Lab

SOURCES = Path(__file__).parents[2] / "labs" / "source"
TOTAL, LOGSUMEXP = "lab05-total", "lab05-logsumexp"


@dataclass(frozen=True)
class Book:
    """A lab under attack: kernels in CUDA C and Numba, a function, or stream work."""

    name: str
    exercises: tuple[str, ...]

    @property
    def found(self) -> list[Path]:
        return sorted(SOURCES.glob(f"{self.name}_*/{self.name}_*.ipynb"))

    @cache  # noqa: B019
    def lab(self) -> Lab:
        """The author's notebook: the imports, then solution and graded cells."""
        lab = source.read(self.found[0])
        first = next(cell for cell in lab.cells if cell.is_code)
        kept = [c for c in lab.cells if c.kind in (SOLUTION, GRADED) and lab.exercise_of(c) in self.exercises]
        title = lab.notebook["cells"][0]
        cells = [title, *(lab.notebook["cells"][cell.number - 1] for cell in (first, *kept))]
        return source.lab({**lab.notebook, "cells": cells}, lab.path)

    def written(self, folder: Path) -> Path:
        """The lab as an author's file below `folder`."""
        path = folder / self.lab().name / f"{self.lab().name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(self.lab().notebook), encoding="utf-8")
        return path

    def solution(self, grade_id: str) -> str:
        """The author's own answer in a cell."""
        return unmarked(self.lab().cell(grade_id).source, SOLUTION_MARK)

    def points(self, exercise: str) -> float:
        return sum(cell.points for cell in self.lab().graded if cell.probe.exercise == exercise)


KERNELS = Book("lab05", ("lab05.total", "lab05.logsumexp"))
SUMS = Book("lab05", ("lab05.total",))
FUNCTIONS = Book("lab01", ("lab01.configure",))
STREAMS = Book("lab08", ("lab08.stage",))
BOOKS = {"two-kernels": KERNELS, "a-kernel": SUMS, "a-function": FUNCTIONS, "stream-work": STREAMS}
