"""`warpbook check`: a learner's lab from a clean kernel on their own machine, marked on the public cases.

The way is that of the grader, without its sandbox and its hidden cases: the lab's own cells, the learner's answers in
them, evidence, the judge.
"""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from helpers.checking.evidence import inputs_of
from helpers.checking.exercise import exercise
from helpers.grading import judge, nbval_plugin, source
from helpers.grading.intake import Submission
from helpers.grading.marking import Marker
from helpers.grading.merged import transplant
from helpers.grading.plain_kernel import PlainKernel
from helpers.grading.policy import Policy
from helpers.grading.results import Mark
from helpers.grading.sandbox import InfrastructureFault, JobFault
from helpers.grading.source import Lab, SourceError
from helpers.grading.submission import session_of
from helpers.grading.untrusted import Refused, read_cells

SIGNS = {"right": "✓", "missing": "–"}
WIDTH = 100
HIDDEN = "Marks also depend on hidden cases, with other sizes and data: full points here don't guarantee full marks."


class NotChecked(ValueError):
    """The notebook can not be checked; the message says what to do."""


@dataclass(frozen=True)
class Checked:
    """The marks of a learner's notebook on the public cases; its text is what the learner reads."""

    title: str
    marks: tuple[Mark, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every point is earned."""
        return all(mark.points == mark.out_of for mark in self.marks)

    def __str__(self) -> str:
        lines = [self.title, ""]
        for key in dict.fromkeys(mark.exercise for mark in self.marks):
            lines += [*_exercise(key, [mark for mark in self.marks if mark.exercise == key]), ""]
        lines += [*(f"Note: {note}" for note in self.notes), *([""] if self.notes else [])]
        lines += [f"{_points(self.marks)} on the public cases.", *_wrapped(HIDDEN, "")]
        return "\n".join(lines)


def check(path: Path, labs: Path | None, seconds: float = 60.0) -> Checked:
    """Run and mark the notebook at `path`; `labs` is the folder of labs as they are handed out, if there is one.

    Raises NotChecked.
    """
    try:
        cells = read_cells(path.read_bytes())
        lab = _lab_of({cell.grade_id for cell in cells if cell.grade_id}, path, labs)
    except (OSError, Refused, SourceError) as error:
        raise NotChecked(f"{path} can not be checked: {error}") from None
    inputs = {key: inputs_of(exercise(key)) for key in lab.exercises}
    planned = transplant(lab, Submission("", path.name, path, cells, ""), inputs)
    policy = replace(Policy(), cell_seconds=seconds, whole_seconds=20 * seconds)
    session = session_of(planned, lambda: PlainKernel(path.resolve().parent), policy)
    marker = Marker(_judge, policy.evidence_bytes)
    with tempfile.TemporaryDirectory(prefix="warpbook-") as folder:
        try:
            nbval_plugin.run(planned, session, marker, folder)
        except InfrastructureFault as fault:
            raise NotChecked(f"{path} was not checked, and that is not your answers' fault: {fault}.") from None
    return Checked(lab.title, tuple(marker.marks), planned.notes)


def _judge(key: str, evidence: dict, open: bool) -> dict:
    try:
        return judge.answer({"exercise": key, "seed": None, "evidence": evidence, "open": open})
    except Exception as error:  # costs this exercise, and not the report on the others
        raise JobFault("crash", f"{type(error).__name__}: {error}") from error


def _lab_of(ids: set[str], path: Path, labs: Path | None) -> Lab:
    """The lab whose cells have those ids: as it was handed out, else the notebook itself, which keeps its locked cells.

    Labs are read where an author's notebook is, too: a learner who works in labs/ has no other copy.
    """
    if not ids:
        raise NotChecked(f"{path} is no lab: none of its cells has a name by which it could be known.")
    folders = [] if labs is None else [*sorted((labs / "source").glob("*/*.ipynb")), *sorted(labs.glob("*/*.ipynb"))]
    for known in [folder for folder in folders if folder.resolve() != path.resolve()]:
        lab = source.read(known)
        if ids & set(lab.ids):
            return lab
    lab = source.read(path)
    if not any(cell.probe for cell in lab.graded):
        raise NotChecked(f"{path} has no graded cell: open a fresh copy of the lab and put your answers there.")
    return lab


def _exercise(key: str, marks: Sequence[Mark]) -> list[str]:
    title = f"{key}  {exercise(key).title}"
    lines = [f"{title:<{WIDTH - 20}}{_points(marks):>20}"]
    said = ""
    for mark in marks:
        lines.append(f"  {SIGNS.get(mark.outcome, '✗')} {mark.part:<{WIDTH - 24}}{mark.points:>7g} of {mark.out_of:g}")
        if mark.outcome != "right" and mark.why != said:  # of several parts of one answer, once
            said = mark.why
            lines += [line for words in mark.why.split("\n") for line in _wrapped(words, "      ")]
    return lines


def _points(marks: Sequence[Mark]) -> str:
    return f"{sum(mark.points for mark in marks):g} of {sum(mark.out_of for mark in marks):g} points"


def _wrapped(words: str, indent: str) -> list[str]:
    return textwrap.wrap(words, WIDTH, initial_indent=indent, subsequent_indent=indent)
