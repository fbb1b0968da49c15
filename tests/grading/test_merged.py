"""The notebook that is run: the reference's cells, the student's answers, and nothing else of the submission."""

from __future__ import annotations

import ast
import copy
import json
from pathlib import Path

import nbformat
import pytest
from nbval.plugin import find_comment_markers

from helpers.grading.intake import Submission
from helpers.grading.merged import PlannedCell, literal, solved, transplant, without_markers
from helpers.grading.release import as_bytes, released
from helpers.grading.source import read
from helpers.grading.untrusted import read_cells
from tests.grading.made_lab import DOUBLED, code, lab, marks, text

LABS = sorted((Path(__file__).parents[2] / "labs" / "source").glob("*/*.ipynb"))
LAB = lab()
TOTAL = solved(LAB)["cells"][4]["source"]


def submission(made: dict, student: str = "alice") -> Submission:
    data = as_bytes(made)
    return Submission(student, f"{student}.ipynb", Path(f"{student}.ipynb"), read_cells(data), "0" * 64)


def planned(made: dict, **inputs):
    return transplant(LAB, submission(made), {f"made01.{name}": value for name, value in inputs.items()})


def sources(plan) -> list[tuple[str, str, str]]:
    """Kind, id and source of each cell."""
    return [(cell.kind, cell.id, made["source"]) for cell, made in zip(plan.cells, plan.notebook["cells"], strict=True)]


def own(plan) -> list[tuple[str, str]]:
    """The student's own cells: what they follow, and their source."""
    return [(name, text) for kind, name, text in sources(plan) if kind == "student"]


def handed_in(change=lambda cells: None) -> dict:
    made = solved(LAB)
    change(made["cells"])
    return made


HONEST = planned(solved(LAB))
GRADED = [cell for cell in sources(HONEST) if cell[0] == "graded"]


# -- the reference --------------------------------------------------------------------------------------


def test_the_plan_is_the_reference_with_the_answers():
    assert [(cell.kind, cell.id) for cell in HONEST.cells] == [
        ("reference", "made-2"),
        ("reference", "made01-probe"),
        ("solution", "made01-total"),
        ("graded", "made01-total-results"),
        ("solution", "made01-doubled"),
        ("graded", "made01-doubled-results"),
        ("graded", "made01-doubled-sectors-per-request"),
    ]
    assert HONEST.cells[2] == PlannedCell("solution", "made01-total", "made01.total", answer="given")
    assert HONEST.cells[6] == PlannedCell(
        "graded", "made01-doubled-sectors-per-request", "made01.doubled", "sectors per request", 2.0
    )
    assert HONEST.notes == ()


def test_graded_cells_only_call_probe():
    assert [text for _, _, text in GRADED] == [
        'probe(total, "made01.total", "results")',
        'probe(doubled, "made01.doubled", "results")',
        'probe(doubled, "made01.doubled", "sectors per request")',
    ]


def test_inputs_are_written_into_the_calls_of_their_exercise():
    inputs = {"values": [1, -2.5, 1e300, True, None, 'é"\n\\', {"a b": []}], "π": "😀"}
    plan = planned(solved(LAB), total=inputs)
    call = ast.parse(sources(plan)[3][2]).body[0].value
    assert ast.literal_eval(call.keywords[0].value) == inputs and call.keywords[0].arg == "inputs"
    assert "inputs" not in sources(plan)[5][2]


def test_literals_are_data():
    odd = [float("inf"), float("-inf"), float("nan"), -0.0, 10**400, "\ud800", "\x00\x7f\u2028"]
    assert repr(eval(literal(odd))) == repr(odd)
    for wrong in ({1: 2}, object(), b"x", {"a": [set()]}):
        with pytest.raises(TypeError, match="plain data"):
            literal(wrong)


def test_the_notebook_is_valid_and_the_same_each_time():
    nbformat.validate(nbformat.from_dict(copy.deepcopy(HONEST.notebook)))
    again = planned(json.loads(as_bytes(solved(LAB))))
    assert as_bytes(again.notebook) == as_bytes(HONEST.notebook) and again == HONEST
    assert HONEST.notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert all(cell["metadata"] == {} and cell["outputs"] == [] for cell in HONEST.notebook["cells"])


def test_feedback_and_what_is_to_be_explored_is_left_out():
    made = json.dumps(HONEST.notebook)
    assert "check(total" not in made and "picture" not in made and "HIDDEN" not in made


@pytest.mark.parametrize("path", LABS, ids=lambda path: path.stem)
def test_every_lab_is_planned(path):
    made = read(path)
    for notebook, answer in ((solved(made), "given"), (released(made), "unchanged")):
        plan = transplant(made, submission(notebook), {key: {"language": "x"} for key in made.exercises})
        assert [cell.id for cell in plan.cells if cell.kind == "graded"] == [cell.grade_id for cell in made.graded]
        assert {cell.answer for cell in plan.cells if cell.kind == "solution"} == {answer}
        assert not [cell for cell in plan.cells if cell.kind == "student"] and plan.notes == ()
        assert sum(cell.points for cell in plan.cells) == made.out_of


# -- answers --------------------------------------------------------------------------------------------


def test_what_was_given_out_unchanged_is_told():
    assert [cell.answer for cell in planned(released(LAB)).cells if cell.kind == "solution"] == ["unchanged"] * 2


@pytest.mark.parametrize(
    "change",
    [
        lambda cells: cells.pop(4),
        lambda cells: cells[4].update(source=" \n"),
        lambda cells: cells[4].update(metadata={}, id="other"),
        lambda cells: cells[4]["metadata"]["nbgrader"].update(grade_id="made01-totl"),
    ],
    ids=["deleted", "emptied", "without its id", "renamed"],
)
def test_a_missing_answer_raises(change):
    plan = planned(handed_in(change))
    (cell,) = (cell for cell in plan.cells if cell.answer == "missing")
    written = {name: source for kind, name, source in sources(plan) if kind == "solution"}
    assert cell.id == "made01-total" and "no answer in the cell made01-total" in plan.notes
    number = plan.cells.index(cell)
    assert number in plan.theirs and number not in plan.own, "its exception would count as a fault of the grader"
    with pytest.raises(NotImplementedError, match="no answer in the cell made01-total"):
        exec(written["made01-total"])


def test_a_renamed_answer_still_runs_as_the_students_own():
    plan = planned(handed_in(lambda cells: cells[4]["metadata"]["nbgrader"].update(grade_id="made01-totl")))
    assert own(plan) == [("made01-total-text", TOTAL)]


def test_an_answer_that_lost_nbgraders_metadata_keeps_jupyters_id():
    plan = planned(handed_in(lambda cells: cells[4].update(metadata={})))
    assert [cell.answer for cell in plan.cells if cell.kind == "solution"] == ["given"] * 2
    assert sources(plan) == sources(HONEST)


def test_a_notebook_whose_ids_another_program_dropped():
    """Some programs save nbformat 4.4 with ids nowhere, but keep nbgrader's metadata."""
    made = solved(LAB)
    made["nbformat_minor"] = 4
    for cell in made["cells"]:
        del cell["id"]
    assert sources(planned(made)) == sources(HONEST)


@pytest.mark.parametrize("cell_type", ["markdown", "raw"])
def test_an_answer_that_became_text_is_run_as_code(cell_type):
    plan = planned(handed_in(lambda cells: cells[4].update(cell_type=cell_type)))
    assert sources(plan) == sources(HONEST)
    assert plan.notes == (f"the answer made01-total was turned into a {cell_type} cell; it is run as code",)


def test_the_pieces_of_a_split_answer_run_in_order():
    """JupyterLab splits a cell into cells with the same metadata."""

    def split(cells):
        second = {**copy.deepcopy(cells[4]), "id": "second", "source": "total = total or 2"}
        cells[4]["source"] = "total = 0"
        cells.insert(5, second)

    plan = planned(handed_in(split))
    assert [cell for cell in sources(plan) if "total =" in cell[2]] == [
        ("solution", "made01-total", "total = 0"),
        ("student", "made01-total", "total = total or 2"),
    ]
    assert "more than once" in plan.notes[0]


def test_order_is_the_references():
    def reverse(cells):
        cells.reverse()

    assert sources(planned(handed_in(reverse))) == sources(HONEST)


# -- the student's own cells ----------------------------------------------------------------------------


def test_own_cells_follow_the_known_cell_they_follow_each_once():
    def add(cells):
        cells.insert(0, code(90, "a = 1", tags=["nbval-skip"]))
        cells.insert(6, code(91, "b = 2"))
        cells.insert(7, code(92, "b = 2"))
        cells.insert(8, text(93, "a remark"))
        cells.insert(9, code(94, "  \n"))
        cells.append(code(95, "c = 3", **marks("mine", "graded", 1000)))

    plan = planned(handed_in(add))
    assert own(plan) == [("", "a = 1"), ("made01-total", "b = 2"), ("made01-total", "b = 2"), ("made-12", "c = 3")]
    assert [cell for cell in sources(plan) if cell[0] != "student"] == sources(HONEST)
    assert plan.cells[0] == PlannedCell("student", "")


def test_a_changed_free_cell_runs_after_the_references():
    """An import that a student added to the first cell must not be lost, nor the reference's own imports."""
    plan = planned(handed_in(lambda cells: cells[1].update(source="import math, heapq")))
    assert sources(plan)[:2] == [
        ("reference", "made-2", "import math\nimport sys"),
        ("student", "made-2", "import math, heapq"),
    ]


def test_explored_cells_are_not_run():
    assert planned(handed_in(lambda cells: cells[7].update(source="while True: pass"))) == HONEST


def test_copies_of_given_cells_are_not_run_twice():
    assert planned(handed_in(lambda cells: cells.append(copy.deepcopy(cells[1])))) == HONEST


# -- what may not have an effect ------------------------------------------------------------------------


def put(number: int, **entries):
    return lambda cells: cells[number - 1].update(entries)


def all_points(cells):
    for cell in cells:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["points"] = 1000


def all_kinds(cells):
    for cell in cells:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"] |= {"grade": True, "solution": True, "locked": False, "schema_version": 1}


def forged_outputs(cells):
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": {"text/plain": "right"}}]


def tags(cells):
    for cell in cells:
        cell["metadata"]["tags"] = ["nbval-skip", "raises-exception", "nbval-ignore-output", "feedback", "explore"]


def doubled_check(cells):
    cells.append({**copy.deepcopy(cells[6]), "id": "again", "source": "probe(lambda numbers: 6)"})


FORGED = {
    "edited graded cell": put(7, source="print('PASSED 10/10')"),
    "edited locked cell": put(3, source="def probe(*given): pass"),
    "edited feedback cell": put(6, source="import os; os._exit(0)"),
    "deleted graded cells": lambda cells: [cells.pop(at) for at in (10, 9, 6)],
    "deleted locked cell": lambda cells: cells.pop(2),
    "graded cell made text": put(7, cell_type="markdown"),
    "graded cell twice": doubled_check,
    "graded cell first": lambda cells: cells.insert(0, cells.pop(6)),
    "points": all_points,
    "kinds": all_kinds,
    "outputs": forged_outputs,
    "tags": tags,
}


@pytest.mark.parametrize("name", FORGED)
def test_what_is_forged_has_no_effect(name):
    assert sources(planned(handed_in(FORGED[name]))) == sources(HONEST)


def test_forged_metadata_of_the_notebook_has_no_effect():
    made = solved(LAB) | {"metadata": {"kernelspec": {"name": "evil", "language": "R"}, "widgets": {}}}
    assert planned(made).notebook == HONEST.notebook


@pytest.mark.parametrize(
    "source",
    [
        "# NBVAL_SKIP",
        "x = 1\n   ### NBVAL_IGNORE_OUTPUT\ny",
        "#NBVAL_RAISES_EXCEPTION",
        "# PYTEST_VALIDATE_IGNORE_OUTPUT",
        "x\x0c# NBVAL_SKIP",
        "x\u2028# NBVAL_SKIP",
        "x\r#\u00a0NBVAL_SKIP",
    ],
)
def test_comments_for_nbval_have_no_effect(source):
    assert list(find_comment_markers(source))
    assert not list(find_comment_markers(without_markers(source)))
    assert len(without_markers(source)) == len(source)
    plan = planned(handed_in(lambda cells: [put(5, source=source)(cells), cells.append(code(99, source))]))
    assert not [marker for _, _, made in sources(plan) for marker in find_comment_markers(made)]


def test_other_code_is_left_as_it_was():
    for source in ("NBVAL_SKIP = 1  # the flag", "# \nNBVAL_SKIP = 2", '"""\n// NBVAL_SKIP\n"""', DOUBLED):
        assert without_markers(source) == source


def test_hostile_ids_are_only_names():
    """An id of another cell's kind makes no answer a graded cell, nor a graded cell an answer."""

    def swap(cells):
        cells[4]["metadata"]["nbgrader"]["grade_id"] = "made01-total-results"
        cells[6]["metadata"]["nbgrader"]["grade_id"] = "made01-total"

    plan = planned(handed_in(swap))
    assert [cell for cell in sources(plan) if cell[0] == "graded"] == GRADED
    (answer,) = (source for _, name, source in sources(plan) if name == "made01-total")
    assert answer == 'seen = probe(total, "made01.total", "results")\nassert seen.right, seen'
