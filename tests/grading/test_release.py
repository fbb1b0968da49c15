"""The learner's notebook, made of the author's; and the command that makes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers import cli
from helpers.grading import source
from helpers.grading.merged import solved
from helpers.grading.regions import SOLUTION as MARK
from helpers.grading.regions import STUB, Unbalanced, regions, replaced, unmarked
from helpers.grading.release import as_bytes, learners_path, released
from tests.grading.made_lab import NAME, TOTAL, lab, notebook, written

ROOT = Path(__file__).parents[2]
LABS = sorted((ROOT / "labs" / "source").glob("*/*.ipynb"))


def cells(made: dict) -> dict[str, dict]:
    return {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in made["cells"] if "nbgrader" in cell["metadata"]}


# -- marked regions -------------------------------------------------------------------------------------


def test_a_region_is_replaced_as_far_indented_as_its_marker():
    assert replaced(TOTAL, MARK, [STUB]) == f'def total(numbers):\n    """The sum of `numbers`."""\n    {STUB}'
    assert "SOLUTION" not in unmarked(TOTAL, MARK) and "found += number" in unmarked(TOTAL, MARK)


def test_several_regions_in_one_cell():
    twice = "a\n# BEGIN SOLUTION\nb\n# END SOLUTION\nc\n# BEGIN SOLUTION\n# END SOLUTION"
    assert replaced(twice, MARK, ["x", "y"]) == "a\nx\ny\nc\nx\ny"
    assert [(region.first, region.last) for region in regions(twice, MARK)] == [(1, 3), (5, 6)]


@pytest.mark.parametrize(
    ("text", "line"),
    [("# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION", 2), ("\n# BEGIN SOLUTION", 2), ("a\nb\n# END SOLUTION", 3)],
    ids=["nested", "open", "closed only"],
)
def test_an_unbalanced_region_is_named(text, line):
    with pytest.raises(Unbalanced) as raised:
        regions(text, MARK)
    assert raised.value.line == line


def test_the_stub_is_a_statement_in_python_and_in_cuda_c():
    exec(f"def f():\n    {STUB}\n\nassert f() is None")
    from helpers import cp

    kernel = cp.RawKernel(f'extern "C" __global__ void f(float* y) {{\n    {STUB}\n}}', "f")
    y = cp.zeros(1, cp.float32)
    kernel((1,), (1,), (y,))
    assert float(y[0]) == 0


# -- the learner's notebook -----------------------------------------------------------------------------


def test_solutions_hidden_tests_and_outputs_are_gone():
    text = as_bytes(released(lab())).decode()
    for secret in ("found +=", "2 * x[i];\\n", "total([])", "stored", "BEGIN", "END "):
        assert secret not in text
    made = cells(released(lab()))
    assert made["made01-total"]["source"].endswith(f"\n    {STUB}")
    assert f"\n    {STUB}\n}}" in made["made01-doubled"]["source"]
    assert all(cell.get("execution_count") is None for cell in released(lab())["cells"])


def test_cells_are_locked_as_their_kind_asks():
    made = cells(released(lab()))
    locked = {name: (cell["metadata"]["deletable"], cell["metadata"].get("editable")) for name, cell in made.items()}
    assert locked["made01-total"] == (False, None)
    assert locked["made01-total-results"] == locked["made01-probe"] == (False, False)
    free = released(lab())["cells"][1]
    assert free["metadata"] == {} and free["id"] == "made-2"


def test_the_source_is_left_as_it_was():
    before = notebook()
    made = lab(before)
    released(made)
    assert before == notebook()


def test_the_bytes_are_the_same_from_every_run(tmp_path):
    one = as_bytes(released(source.read(written(tmp_path))))
    assert one == as_bytes(released(lab())) == as_bytes(json.loads(one))
    assert one.endswith(b"}\n")


def test_a_solved_lab_has_the_authors_answers_or_those_given():
    made = cells(solved(lab(), {"made01-total": "total = sum"}))
    assert made["made01-total"]["source"] == "total = sum"
    assert "2 * x[i]" in made["made01-doubled"]["source"] and "SOLUTION" not in made["made01-doubled"]["source"]
    assert "HIDDEN" not in json.dumps(made)
    with pytest.raises(KeyError, match="no solution cell 'made01-nothing'"):
        solved(lab(), {"made01-nothing": ""})


@pytest.mark.parametrize("path", LABS, ids=lambda path: path.stem)
def test_the_learners_file_is_what_its_source_gives(path):
    made = source.read(path)
    there = learners_path(made, ROOT / "labs")
    assert there.read_bytes() == as_bytes(released(made)), f"run `warpbook release {made.name}`"


def test_every_learners_file_has_a_source():
    there = {path.stem for path in (ROOT / "labs").glob("*/*.ipynb") if path.parent.name != "source"}
    assert there == {path.stem for path in LABS}


# -- the command ----------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of one lab, called so that its exercises are found."""
    for folder in ("notebooks", "helpers"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path)
    from tests.grading.made_lab import EXERCISES

    monkeypatch.setattr("helpers.checking.exercise.exercises", lambda: EXERCISES)
    written(tmp_path / "labs" / "source")
    return tmp_path


@pytest.mark.parametrize("name", [NAME, "made01", f"labs/source/{NAME}", f"labs/source/{NAME}/{NAME}.ipynb", None])
def test_release_writes_and_then_finds_it_up_to_date(project, capsys, name):
    names = [name] if name else []
    assert cli.main(["release", *names, "--check"]) == 1
    assert f"run `warpbook release {NAME}`" in capsys.readouterr().out
    assert not (project / "labs" / NAME).exists()
    assert cli.main(["release", *names]) == 0
    assert "3 graded cells, 6.5 points" in capsys.readouterr().out
    assert cli.main(["release", *names, "--check"]) == 0
    assert capsys.readouterr().out == f"{NAME}: up to date\n"
    target = project / "labs" / NAME / f"{NAME}.ipynb"
    target.write_bytes(target.read_bytes() + b" ")
    assert cli.main(["release", *names, "--check"]) == 1


def test_release_writes_elsewhere(project):
    assert cli.main(["release", "made01", "--out", "given/out"]) == 0
    assert (project / "given" / "out" / NAME / f"{NAME}.ipynb").is_file()


def test_a_mistake_of_the_author_is_told_and_nothing_written(project, capsys):
    made = notebook()
    made["cells"][6]["metadata"]["nbgrader"]["points"] = -3
    written(project / "labs" / "source", made)
    assert cli.main(["release"]) == 1
    assert "cell 7: points: points can not be -3" in capsys.readouterr().out
    assert not (project / "labs" / NAME).exists()


def test_a_lab_that_there_is_not(project, capsys):
    assert cli.main(["release", "lab77"]) == 2
    assert f"There is no lab lab77. There are: {NAME}" in capsys.readouterr().err
    (project / "labs" / "source" / NAME / f"{NAME}.ipynb").write_bytes(b"\xff")
    assert cli.main(["release", "made01"]) == 2
    assert "is no notebook" in capsys.readouterr().err


def test_a_learners_file_means_its_source_and_the_beginning_of_a_name_the_lab(project, capsys):
    assert cli.main(["release"]) == 0
    written(project / "labs" / "source", name="made02_more_sums")
    capsys.readouterr()
    for name in (f"labs/{NAME}/{NAME}.ipynb", f"labs/{NAME}", "made01"):
        assert cli.main(["release", name, "--check"]) == 0
        assert capsys.readouterr().out == f"{NAME}: up to date\n"
    assert cli.main(["release", "made02_more", "--check"]) == 1
    assert "made02_more_sums: " in capsys.readouterr().out


def test_a_mistake_has_the_name_of_its_cell(project, capsys):
    made = notebook()
    del made["cells"][6]["metadata"]["nbgrader"]["points"]
    written(project / "labs" / "source", made)
    assert cli.main(["release"]) == 1
    assert "\n  made01-total-results: cell 7: points: " in capsys.readouterr().out
