"""The author's notebook read as data, and every mistake of an author that is seen."""

from __future__ import annotations

import json

import pytest

from helpers.grading import source
from helpers.workbook.lab_style import RULES, examine
from tests.grading.made_lab import EXERCISES, NAME, PROBE, code, lab, marks, notebook, text, written

LABS = sorted((source.Path(__file__).parents[2] / "labs" / "source").glob("*/*.ipynb"))


def test_a_lab_is_read_from_its_file_or_folder(tmp_path):
    path = written(tmp_path)
    assert source.read(path) == source.read(path.parent) == lab()
    assert repr(source.read(path)) == f"Lab(name='{NAME}', path={path!r})"


def test_kinds_points_and_exercises():
    made = lab()
    assert [cell.kind for cell in made.cells] == [
        *("free", "free", "locked", "locked", "solution", "locked", "graded"),
        *("free", "solution", "graded", "graded", "free"),
    ]
    assert made.out_of == 6.5 and [cell.points for cell in made.graded] == [3, 1.5, 2]
    assert made.exercises == ("made01.total", "made01.doubled")
    assert [cell.grade_id for cell in made.answered_in("made01.doubled")] == ["made01-doubled"]
    assert made.exercise_of(made.cell("made01-total-results")) == "made01.total"
    assert [cell.number for cell in made.cells if cell.is_feedback] == [6, 8]
    assert made.cell("made01-total").tags == ("answer",)
    with pytest.raises(KeyError, match="has no cell 'made01-nothing'"):
        made.cell("made01-nothing")


def test_probes_are_found_by_their_syntax():
    seen = lab().cell("made01-doubled-sectors-per-request").probe
    assert seen == source.Probe("doubled", "made01.doubled", "sectors per request")
    spread = 'assert probe(\n    made["é"](1),  # the answer\n    "made01.total", "results",\n).right'
    assert source.probes(spread) == [source.Probe('made["é"](1)', "made01.total", "results")]
    assert source.probes('# probe(a, "b", "c")\n"probe(a, 1, 2)"') == []
    assert source.probes('probe(a, key, "c"); probe(a, "b"); probe(a, "b", "c", inputs=1)') == []


def test_the_longest_key_names_the_exercise():
    cells = [
        code(1, "a = 1", **marks("made01-sum", "solution")),
        code(2, "b = 1", **marks("made01-sum-fast", "solution")),
        code(3, 'probe(a, "made01.sum", "results")', **marks("made01-sum-results", "graded", 1)),
        code(4, 'probe(b, "made01.sum_fast", "results")', **marks("made01-sum-fast-results", "graded", 1)),
    ]
    made = lab({**notebook(), "cells": cells})
    assert [made.exercise_of(cell) for cell in made.solutions] == ["made01.sum", "made01.sum_fast"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "There is no notebook"),
        (b"\xff\xfe", "is no notebook"),
        (b"{", "is no notebook"),
        (b"[]", "is no notebook of format 4"),
        (b'{"nbformat": 3, "cells": []}', "is no notebook of format 4"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code"}]}', "not as Jupyter writes them"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "metadata": {}, "source": 5}]}', "not as Jupyter"),
    ],
    ids=["missing", "binary", "no JSON", "no notebook", "old format", "no source", "source is a number"],
)
def test_what_can_not_be_read_is_said(tmp_path, content, says):
    path = tmp_path / "made01_sums.ipynb"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(source.SourceError, match=says):
        source.read(path)


def test_the_made_up_lab_breaks_no_rule():
    assert examine(lab(), EXERCISES) == []


@pytest.mark.parametrize("path", LABS, ids=lambda path: path.stem)
def test_labs_break_no_rule(path):
    assert list(map(str, examine(source.read(path)))) == []


# -- one mistake each -----------------------------------------------------------------------------------


def cell(number: int, /, source: str | None = None, **nbgrader):
    """Changes the cell `number`: its source, or entries of its nbgrader metadata (None removes one)."""

    def change(made: dict) -> None:
        changed = made["cells"][number - 1]
        if source is not None:
            changed["source"] = source
        for name, value in nbgrader.items():
            if value is None:
                del changed["metadata"]["nbgrader"][name]
            else:
                changed["metadata"]["nbgrader"][name] = value

    return change


def line(number: int, old: str, new: str):
    """Changes the text of the cell `number`."""

    def change(made: dict) -> None:
        before = made["cells"][number - 1]["source"]
        assert old in before
        made["cells"][number - 1]["source"] = before.replace(old, new)

    return change


def top(**entries):
    return lambda made: made.update(entries)


def put_in(*cells: dict, at: int = 12):
    def change(made: dict) -> None:
        made["cells"][at:at] = cells

    return change


def move(number: int, to: int):
    return lambda made: made["cells"].insert(to - 1, made["cells"].pop(number - 1))


def drop(number: int):
    return lambda made: made["cells"].pop(number - 1)


GRADED_SOURCE = 'seen = probe(total, "made01.total", "results")\nassert seen.right'
MISTAKES = [
    ("cell ids", top(nbformat_minor=4), "nbformat 4.5"),
    ("cell ids", put_in(text(1, "twice")), "an id of its own (it has 'made-1')"),
    ("notebook metadata", top(metadata={"kernelspec": {"name": "julia"}}), "kernel to python3"),
    ("notebook metadata", top(metadata={**notebook()["metadata"], "widgets": {}}), "remove widgets"),
    ("nbgrader metadata", cell(5, schema_version=2), "schema_version 2"),
    ("nbgrader metadata", cell(5, solution="yes"), "solution must be true or false"),
    ("nbgrader metadata", cell(5, colour="red"), "knows no colour"),
    ("nbgrader metadata", cell(3, locked=False), "neither graded, solution nor locked"),
    ("kinds", cell(5, grade=True), "marked by hand"),
    ("kinds", cell(4, task=True), "marked by hand"),
    ("kinds", lambda made: made["cells"][6].update(cell_type="markdown"), "a graded cell holds code"),
    ("kinds", cell(7, locked=False), "lock the graded cell"),
    ("kinds", cell(5, locked=True), "can not be locked"),
    ("grade ids", cell(6, grade_id="made01-total"), "2 cells are called 'made01-total'"),
    ("grade ids", cell(6, grade_id="made01-größe"), "A-Z, a-z, 0-9"),
    ("grade ids", cell(6, grade_id=""), "give it a grade_id"),
    ("grade ids", cell(6, grade_id=None), "give it a grade_id"),
    ("grade ids", cell(6, grade_id="lab99-check"), "with made01-"),
    ("points", cell(7, points=None), "how many points `made01-total-results`"),
    ("points", cell(7, points="3"), "points are a number (they are '3')"),
    ("points", cell(7, points=True), "points are a number"),
    ("points", cell(7, points=-1), "points can not be -1"),
    ("points", cell(7, points=float("nan")), "points can not be nan"),
    ("points", cell(5, points=1), "points belong to graded cells"),
    ("points", lambda made: [cell(number, points=0)(made) for number in (7, 10, 11)], "no cell is worth points"),
    (
        "points told",
        cell(1, "# Sums\n\n7 points, about an hour."),
        "it says 7 points, and the graded cells are worth 6.5",
    ),
    ("points told", cell(4, "## A total (3 points)"), "it says 3 points, and its graded cells are worth 6.5"),
    (
        "points told",
        cell(4, "## A total (6.5 points)\n\n| part | at most | points |\n|---|---|---|\n| right | | 3 |\n"),
        "into its table, in their order: 3, 1.5, 2",
    ),
    ("solutions", cell(5, "def total(numbers):\n    return sum(numbers)"), "between ### BEGIN SOLUTION"),
    ("solutions", line(5, "    ### END SOLUTION", ""), "line 3: BEGIN SOLUTION without END SOLUTION"),
    ("solutions", line(5, "### BEGIN SOLUTION", ""), "END SOLUTION without BEGIN"),
    ("solutions", line(5, "found = 0", "### BEGIN SOLUTION"), "inside the region that line 3 opens"),
    ("solutions", line(9, "    if (i < n) y[i] = 2 * x[i];\n", ""), "line 4 is empty"),
    ("solutions", cell(2, "### BEGIN SOLUTION\nx = 1\n### END SOLUTION"), "no solution cell"),
    ("hidden tests", line(7, "### END HIDDEN TESTS", ""), "without END HIDDEN TESTS"),
    ("hidden tests", cell(2, "### BEGIN HIDDEN TESTS\nx = 1\n### END HIDDEN TESTS"), "belong into graded cells"),
    ("markers alone", line(5, "### BEGIN SOLUTION", "found = 0  ### BEGIN SOLUTION"), "line 3 vanishes"),
    ("markers alone", line(9, "// ### BEGIN SOLUTION", "### BEGIN SOLUTION"), "write it as `// ### BEGIN SOLUTION`"),
    ("markers alone", line(5, "### BEGIN SOLUTION", "// ### BEGIN SOLUTION"), "write it as `### BEGIN SOLUTION`"),
    ("other marks", cell(2, "### AUTOTEST total([1])"), "nbgrader acts on AUTOTEST"),
    ("other marks", cell(1, "BEGIN MARK SCHEME"), "nbgrader acts on BEGIN MARK SCHEME"),
    ("python", line(5, "found = 0", "found = = 0"), "no Python"),
    ("python", cell(5, "%%time\n### BEGIN SOLUTION\ntotal = 1\n### END SOLUTION"), "no cell magic"),
    ("python", cell(5, "total = [\n### BEGIN SOLUTION\n1, 2\n### END SOLUTION\n, 3]"), "mark whole statements"),
    ("one probe", cell(7, "assert total([1]) == 1"), "call probe(answer"),
    ("one probe", cell(7, GRADED_SOURCE + "\n" + GRADED_SOURCE), "2 calls of probe"),
    ("one probe", cell(7, 'assert probe(total, "made01.total").right'), "write the call as"),
    ("one probe", cell(7, 'assert probe(total, key, "results").right'), "write the call as"),
    ("one probe", cell(7, f"### BEGIN HIDDEN TESTS\n{GRADED_SOURCE}\n### END HIDDEN TESTS"), "outside the hidden"),
    ("one probe", cell(8, GRADED_SOURCE), "probe belongs into graded cells"),
    ("one probe", line(5, "found = 0", 'found = check(1, "a")'), "let a locked cell of its own call check"),
    (
        "one probe",
        line(7, "assert total([]) == 0", 'assert probe(total, "made01.total", "cost", seed=1).right'),
        "only seed= may differ",
    ),
    ("parts", line(7, "made01.total", "made01.totl"), "no exercise 'made01.totl'; did you mean 'made01.total'?"),
    ("parts", line(7, "made01.total", "ch04.copy_columns"), "there is no exercise"),
    ("parts", line(11, "sectors per request", "sectors"), "no part 'sectors': it has 'results', 'sectors per request'"),
    ("parts", line(11, "sectors per request", "results"), "cell 10 grades 'results' of made01.doubled already"),
    ("parts", drop(10), "no cell grades the results of made01.doubled"),
    ("limits", line(11, "assert seen.right", "assert seen.value <= 1.5"), "at most 1.5, its exercise's row says 1"),
    ("answers", drop(9), "nothing answers made01.doubled: call its solution cell made01-doubled"),
    ("answers", move(10, 9), "it stands before `made01-doubled`"),
    ("answers", cell(9, grade_id="made01-two"), "nothing grades `made01-two`"),
    ("answers", cell(7, grade_id="made01-results"), "call it made01-total-results"),
    ("names known", line(7, "probe(total", "probe(totl"), "'totl', which no cell before it defines"),
    ("names known", line(7, "probe(total", "probe(picture"), "'picture', which no cell before it defines"),
    ("left out", line(9, "doubled = ", "sign = picture\ndoubled = "), "it uses 'picture' of a cell for feedback"),
    ("asserts", cell(7, 'seen = probe(total, "made01.total", "results")'), "full marks"),
    ("asserts", line(7, "### END HIDDEN TESTS", "### END HIDDEN TESTS\nseen.points"), "bare expression"),
]


@pytest.mark.parametrize(
    ("rule", "change", "says"), MISTAKES, ids=[f"{number}-{row[0]}" for number, row in enumerate(MISTAKES)]
)
def test_a_mistake_is_named(rule, change, says):
    made = notebook()
    change(made)
    found = [problem for problem in examine(lab(made), EXERCISES) if problem.rule == rule]
    assert any(says in problem.message for problem in found), found


def test_points_and_limits_that_agree_are_no_mistake():
    made = notebook()
    cell(1, "# Sums\n\n6.5 points, about an hour.")(made)
    table = "| part | at most | points |\n|---|---|---|\n| right | | 3 |\n| right | | 1.5 |\n| cost | 1 | 2 |"
    cell(4, f"## A total (6.5 points)\n\n{table}")(made)
    line(11, "assert seen.right", 'assert seen.value != "none" and seen.value <= 1')(made)
    assert examine(lab(made), EXERCISES) == []


@pytest.mark.parametrize("name", ["Reduction", "made01-sums"])
def test_file_names(tmp_path, name):
    made = source.read(written(tmp_path, name=name))
    assert "file name" in {problem.rule for problem in examine(made, EXERCISES)}
    moved = tmp_path / "elsewhere" / f"{NAME}.ipynb"
    moved.parent.mkdir()
    written(tmp_path).rename(moved)
    assert [problem.rule for problem in examine(source.read(moved), EXERCISES)] == ["file name"]


def test_every_rule_has_its_mistake():
    assert {row[0] for row in MISTAKES} | {"file name"} == {rule.name for rule in RULES}


def test_hidden_tests_may_probe_with_a_seed():
    made = notebook()
    line(7, "assert total([]) == 0", 'assert probe(total, "made01.total", "results", seed=7).right')(made)
    assert examine(lab(made), EXERCISES) == []


def test_an_exercise_of_another_lab_is_no_part_of_this_one():
    row = EXERCISES["made01.total"]
    made = notebook()
    line(7, "made01.total", "made02.total")(made)
    found = examine(lab(made), {**EXERCISES, "made02.total": row})
    assert "another lab's exercise" in str(found)


def test_a_marked_call_in_a_stored_output_is_no_code():
    made = notebook()
    made["cells"][7]["outputs"] = [{"name": "stdout", "output_type": "stream", "text": PROBE}]
    assert examine(lab(json.loads(json.dumps(made))), EXERCISES) == []
