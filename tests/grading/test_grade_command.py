"""The words of `warpbook grade` and `warpbook check`: what is understood, and what is said where it is not."""

import pytest

from helpers import cli
from helpers.grading import grade, report
from helpers.grading.grade import Graded, NotGradable
from helpers.grading.ledger import Taken
from helpers.grading.results import GRADED as STATE_GRADED
from helpers.grading.results import UNGRADED, Mark, Result
from helpers.workbook import grading_commands
from tests.grading import small_lab

LAB = str(small_lab.FULL)


def call(*arguments):
    return cli.main(["grade", *arguments])


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/", "a/b", "1/3/5"])
def test_a_shard_is_one_of_as_many(text, capsys):
    with pytest.raises(SystemExit) as raised:
        call(LAB, "x", "--out", "y", "--shard", text)
    assert raised.value.code == 2
    assert "is no shard: write 1/3" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "-1", "1.5", "seven", "²"])
def test_a_seed_is_a_number_or_a_file_with_one(text, capsys, tmp_path):
    with pytest.raises(SystemExit) as raised:
        call(LAB, "x", "--out", "y", "--seed", text)
    assert raised.value.code == 2
    path = tmp_path / "seed.txt"
    path.write_text("42\n")
    assert grading_commands.seed(str(path)) == 42
    assert grading_commands.seed("42") == 42


@pytest.mark.parametrize("option", ["--workers", "--timeout"])
@pytest.mark.parametrize("text", ["0", "-1", "many", "nan"])
def test_numbers_are_more_than_nothing(option, text, capsys):
    with pytest.raises(SystemExit) as raised:
        call(LAB, "x", "--out", "y", option, text)
    assert raised.value.code == 2


def test_a_shard_needs_a_seed(capsys, tmp_path):
    assert call(LAB, str(tmp_path), "--out", str(tmp_path / "out"), "--shard", "1/3") == 2
    assert "--shard needs --seed" in capsys.readouterr().err


def test_a_lab_that_there_is_not_is_said_so(capsys, tmp_path):
    assert call("lab77", str(tmp_path), "--out", str(tmp_path / "out")) == 2
    assert "There is no lab lab77" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (NotGradable("no folder"), 2),
        (NotGradable("no sandbox", unready=True), 1),
        (Taken("another is at work"), 2),
        (OSError("disk full"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_each_end_has_its_exit_status(problem, status, capsys, monkeypatch, tmp_path):
    def stopped(*arguments, **named):
        raise problem

    monkeypatch.setattr(grade, "grade", stopped)
    assert call(LAB, str(tmp_path), "--out", str(tmp_path / "out")) == status
    said = capsys.readouterr().err
    assert (str(problem) or "call the same again to go on") in said


def finished(monkeypatch, *results):
    lab = small_lab.lab(small_lab.EXERCISES[:1])
    monkeypatch.setattr(grade, "grade", lambda *_, **__: Graded(results, grade.lab_info(lab), kept=1))
    return lab


def marks(lab, outcome="right"):
    return tuple(
        Mark(c.grade_id, c.probe.exercise, c.probe.part, c.points if outcome == "right" else 0.0, c.points, outcome)
        for c in lab.graded
    )


def test_a_class_that_is_graded_ends_well(capsys, monkeypatch, tmp_path):
    lab = small_lab.lab(small_lab.EXERCISES[:1])
    finished(monkeypatch, Result("ann", "ann.ipynb", lab.name, STATE_GRADED, marks(lab)))
    assert call(LAB, str(tmp_path), "--out", str(tmp_path / "out")) == 0
    said = capsys.readouterr().out
    assert "1 of 1 submissions were already graded" in said and "ann" in said


def test_anything_ungraded_makes_the_last_line_loud_and_the_status_1(capsys, monkeypatch, tmp_path):
    lab = small_lab.lab(small_lab.EXERCISES[:1])
    done = Result("ann", "ann.ipynb", lab.name, STATE_GRADED, marks(lab))
    left = Result("bob", "bob.ipynb", lab.name, UNGRADED, marks(lab, "unjudged"), reason="no sandbox")
    finished(monkeypatch, done, left)
    assert call(LAB, str(tmp_path), "--out", str(tmp_path / "out")) == 1
    last = capsys.readouterr().out.rstrip().split("\n")[-1]
    assert "NOT GRADED" in last.upper() and last.upper() != last.lower()
    assert report.exit_status([left]) == 1


@pytest.mark.parametrize("command", ["grade", "check"])
def test_help_has_an_example_and_the_exit_statuses(command, capsys):
    with pytest.raises(SystemExit) as raised:
        cli.main([command, "--help"])
    assert raised.value.code == 0
    said = capsys.readouterr().out
    assert f"  warpbook {command} " in said and "exit status:" in said
    assert max(map(len, said.split("\n"))) <= 120
