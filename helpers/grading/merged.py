"""The reference with a student's answers in it: the notebook that is run to grade a submission.

All that decides comes from the author's notebook. Of the submission only the text of code cells is taken: the answers,
by the ids of their cells, and what the student wrote beside them, which may fail without harm.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from helpers.grading.intake import Submission
from helpers.grading.regions import SOLUTION as SOLUTION_MARK
from helpers.grading.regions import unmarked
from helpers.grading.release import learners_source, released
from helpers.grading.source import FREE, GRADED, SOLUTION, Cell, Lab
from helpers.grading.untrusted import HandedIn

REFERENCE, STUDENT = "reference", "student"  # beside SOLUTION and GRADED: the kinds of planned cells
GIVEN, UNCHANGED, MISSING = "given", "unchanged", "missing"
ANSWERS = {
    GIVEN: "the student wrote something",
    UNCHANGED: "the cell is as it was given out",
    MISSING: "the submission has no cell of this id, or an empty one",
}
"""What became of a solution cell."""

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
MARKER = re.compile(r"(#[^\S\n]*(?:NBVAL|PYTEST_VALIDATE))_")


@dataclass(frozen=True)
class PlannedCell:
    """One code cell of the notebook that is run.

    `kind` is "reference", "solution", "student" or "graded"; `id` the grade_id, or Jupyter's id of a free cell, or for
    a student's cell the id of the known cell that it follows ("" at the top). `answer` is one of `ANSWERS` for
    solution cells; `exercise`, `part` and `points` belong to graded cells, `exercise` to solution cells too.
    """

    kind: str
    id: str
    exercise: str = ""
    part: str = ""
    points: float = 0.0
    answer: str = ""

    @property
    def is_theirs(self) -> bool:
        """Whether what it does is the student's doing: it holds code of theirs, or the answer that they left out."""
        return self.kind == STUDENT or (self.kind == SOLUTION and self.answer != UNCHANGED)


@dataclass(frozen=True)
class Planned:
    """A notebook of code cells only, and what each of them is; `notes` say what an instructor should know."""

    notebook: dict = field(repr=False)
    cells: tuple[PlannedCell, ...]
    notes: tuple[str, ...] = ()

    @property
    def theirs(self) -> frozenset[int]:
        """The numbers of cells that do what the student made them do."""
        return frozenset(number for number, cell in enumerate(self.cells) if cell.is_theirs)

    @property
    def own(self) -> frozenset[int]:
        """The numbers of the lab's own cells, but for the graded ones, which call what the student wrote."""
        every = enumerate(self.cells)
        return frozenset(number for number, cell in every if not cell.is_theirs and cell.kind != GRADED)


def transplant(lab: Lab, submission: Submission, inputs: Mapping[str, object] | None = None) -> Planned:
    """The notebook that grades `submission`.

    `inputs` gives, for keys of exercises, what the answer is to be tried on: None, booleans, numbers, texts, lists and
    dictionaries of these; probe gets it as `inputs=`.
    """
    answers, own, notes = _sorted_out(lab, submission.cells)
    cells: list[tuple[PlannedCell, str]] = [(PlannedCell(STUDENT, ""), source) for source in own[""]]
    for cell in lab.cells:
        cells += _reference(lab, cell, answers, inputs or {})
        cells += [(PlannedCell(STUDENT, name_of(cell)), source) for source in own[name_of(cell)]]
    return Planned(_notebook(source for _, source in cells), tuple(planned for planned, _ in cells), tuple(notes))


def name_of(cell: Cell | HandedIn) -> str:
    """By what a cell is known: nbgrader's id, else Jupyter's."""
    return cell.grade_id or cell.id


def _reference(lab: Lab, cell: Cell, answers: Mapping[str, str], inputs: Mapping) -> list[tuple[PlannedCell, str]]:
    """What becomes of one cell of the reference: nothing, or one cell."""
    if cell.kind == SOLUTION:
        source = answers.get(cell.grade_id, "")
        answer = MISSING if not source.strip() else UNCHANGED if _same(source, learners_source(cell)) else GIVEN
        if answer == MISSING:
            source = f'raise NotImplementedError("no answer in the cell {cell.grade_id}")'
        planned = PlannedCell(SOLUTION, cell.grade_id, lab.exercise_of(cell) or "", answer=answer)
        return [(planned, without_markers(source))]
    if cell.kind == GRADED:
        probe = cell.asked
        planned = PlannedCell(GRADED, cell.grade_id, probe.exercise, probe.part, cell.points)
        return [(planned, probe_call(cell, inputs))]
    if not cell.is_code or cell.is_feedback or not cell.source.strip():
        return []
    return [(PlannedCell(REFERENCE, name_of(cell)), cell.source)]


def probe_call(cell: Cell, inputs: Mapping[str, object]) -> str:
    """The source of a graded cell as it is run: the call of probe and nothing else."""
    probe = cell.asked
    arguments = [probe.expression, literal(probe.exercise), literal(probe.part)]
    if probe.exercise in inputs:
        arguments.append(f"inputs={literal(inputs[probe.exercise])}")
    return f"probe({', '.join(arguments)})"


def literal(value: object) -> str:
    """`value` as Python source that gives it back; raises TypeError for what JSON can not hold."""
    if value is None or isinstance(value, bool | int):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, str):
        return json.dumps(value) if value.isascii() else ascii(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    raise TypeError(f"inputs are plain data that JSON can hold; this is {type(value).__name__}")


def without_markers(source: str) -> str:
    """A student's code with nbval's comments made ineffective: they would switch its checks off."""
    return MARKER.sub(r"\1-", source)


def _sorted_out(lab: Lab, cells: Sequence[HandedIn]) -> tuple[dict[str, str], defaultdict[str, list[str]], list[str]]:
    """A submission's answers by their ids, the student's own cells by the known cell they follow, and notes."""
    known = {name_of(cell): cell for cell in lab.cells}
    by_id = {cell.id: cell for cell in lab.cells if cell.id}
    there = {name for cell in cells for name in (cell.grade_id, cell.id)}
    lost = [cell for cell in lab.cells if cell.is_code and not there & {cell.grade_id, cell.id} - {""}]
    texts = {text.strip(): cell for cell in lost for text in (cell.source, learners_source(cell))}
    answers: dict[str, str] = {}
    own: defaultdict[str, list[str]] = defaultdict(list)
    notes: list[str] = []
    here = ""
    for cell in cells:
        # A cell that lost nbgrader's id in another program may still have Jupyter's, or at least the text.
        reference = known.get(cell.grade_id) or (None if cell.grade_id else by_id.get(cell.id))
        reference = reference or texts.get(cell.source.strip())
        if reference is not None:
            here = name_of(reference)
        if reference is not None and reference.kind == SOLUTION and here not in answers:
            answers[here] = cell.source
            if not cell.is_code:
                notes.append(f"the answer {here} was turned into a {cell.cell_type} cell; it is run as code")
        elif cell.is_code and cell.source.strip() and _is_own(cell, reference):
            own[here].append(without_markers(cell.source))
            if reference is not None and reference.kind == SOLUTION:
                # JupyterLab splits a cell into pieces of one id, which only together are what the student ran.
                notes.append(f"the cell {here} is there more than once: the first is the answer, the others run too")
    missing = [cell.grade_id for cell in lab.solutions if not answers.get(cell.grade_id, "").strip()]
    notes += [f"no answer in the cell {name}" for name in missing]
    return answers, own, list(dict.fromkeys(notes))


def _is_own(cell: HandedIn, reference: Cell | None) -> bool:
    """Whether a cell that is no answer is the student's own work, to be run beside the reference's."""
    if reference is None or reference.kind == SOLUTION:
        return True
    if reference.kind != FREE or reference.is_feedback:
        return False
    return not _same(cell.source, reference.source)  # an import added to a free cell must not be lost


def _same(one: str, other: str) -> bool:
    return one.strip() == other.strip()


def _notebook(sources: Iterable[str]) -> dict:
    empty: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**copy.deepcopy(empty), "id": f"run-{number}", "source": text} for number, text in enumerate(sources)]
    about = {"kernelspec": dict(KERNELSPEC), "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


# -- the way back ---------------------------------------------------------------------------------------


def solved(lab: Lab, answers: Mapping[str, str] | None = None) -> dict:
    """The learner's notebook with its solution cells filled in, as a student would hand it in.

    `answers` gives the whole source of solution cells by their ids; the author's own stands in all others. Raises
    KeyError for an id that is no solution cell's.
    """
    answers = dict(answers or {})
    notebook = released(lab)
    for cell, made in zip(lab.cells, notebook["cells"], strict=True):
        if cell.kind == SOLUTION:
            made["source"] = answers.pop(cell.grade_id, unmarked(cell.source, SOLUTION_MARK))
    if answers:
        raise KeyError(f"{lab.name} has no solution cell {', '.join(map(repr, answers))}")
    return notebook
