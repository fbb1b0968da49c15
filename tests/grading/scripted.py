"""Kernels, judges and jobs that do what a test says, in place of sandboxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from helpers.checking.probe import MIME
from helpers.grading.merged import GRADED, REFERENCE, SOLUTION, Planned, PlannedCell
from helpers.grading.policy import Policy
from helpers.grading.results import FAULTS
from helpers.grading.sandbox import Run
from helpers.grading.submission import Job
from helpers.grading.worker import Settings

SETTINGS = Settings(1, Policy(), "")


def shown(exercise: str, part: str, evidence: object = None) -> dict:
    """The output of a probe."""
    data = {"exercise": exercise, "part": part, "evidence": {"kernel": 1} if evidence is None else evidence}
    return {"output_type": "display_data", "data": {MIME: data, "text/plain": "…"}, "metadata": {}}


class Kernels:
    """Opens kernels that answer by a table: code -> what comes of it, "ok" where nothing is said.

    `ran` has the codes that each kernel ran, in order. A value may be a function, called each time.
    """

    def __init__(self, table: Mapping[str, str | Run | Callable] | None = None):
        self.table, self.ran = dict(table or {}), []

    def __call__(self) -> Kernels:
        self.ran.append([])
        return self

    def __enter__(self) -> Kernels:
        self.alive = True
        return self

    def __exit__(self, *error) -> None:
        self.alive = False

    def execute(self, code: str, timeout: float) -> Run:
        assert self.alive, "a kernel that is closed was asked to run a cell"
        self.ran[-1].append(code)
        found = self.table.get(code, "ok")
        found = found(timeout) if callable(found) else found
        if isinstance(found, Run):
            return found
        says = f"it came to {found}" if found in FAULTS else ""
        return Run([], {"ename": "ValueError", "evalue": "no"} if found == "error" else None, found, 0.0, says)


def planned(*cells: PlannedCell, sources: tuple[str, ...] = ()) -> Planned:
    """A notebook of those cells; the source of each is its id where none is given."""
    texts = sources or tuple(cell.id for cell in cells)
    made = [
        {"cell_type": "code", "execution_count": None, "id": f"run-{n}", "metadata": {}, "outputs": [], "source": text}
        for n, text in enumerate(texts)
    ]
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return Planned({"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, cells)


def two_questions() -> Planned:
    """Imports, then two exercises with a solution cell and a graded cell each."""
    return planned(
        PlannedCell(REFERENCE, "imports"),
        PlannedCell(SOLUTION, "one", "lab99.one", answer="given"),
        PlannedCell(GRADED, "one-results", "lab99.one", "results", 2.0),
        PlannedCell(SOLUTION, "two", "lab99.two", answer="given"),
        PlannedCell(GRADED, "two-results", "lab99.two", "results", 3.0),
    )


def job(student: str, key: str = "key") -> Job:
    return Job(student, f"{student}.ipynb", "lab99_made", key, two_questions())
