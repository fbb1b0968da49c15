"""What an instructor adds to results: roster, late days, marks set by hand, and Moodle's worksheet."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from helpers.cli import main
from helpers.grading import handed_in, report
from helpers.grading.intake import take_in
from helpers.grading.release import as_bytes, released
from helpers.grading.report import classroom
from helpers.grading.report.classroom import Classroom, LateRule, Override, Student
from helpers.grading.results import GRADED
from tests.grading import small_lab
from tests.grading.report.made_class import LAB, RIGHT, WRONG, marks, result

ROSTER = (
    Student("u1", "Lovelace", "Ada", "ada@uni.example"),
    Student("u2", "Turing", "Alan", "alan@uni.example", late_days="3"),
    Student("u3", "Hopper", "Grace"),
)
DUE = "2026-03-01T23:59:00+01:00"
RULE = LateRule(percent_per_day=10, free_days=1, most_percent=50)
FULL = LAB.out_of


def handed(*names: str, outcomes=RIGHT):
    return [result(name, GRADED, marks(*outcomes), file=f"{name}.ipynb") for name in names]


def made(results, of_class, **options):
    material, formats = report.make(results, LAB, classroom=of_class, **options)
    return material, {name: data for each in formats.values() for name, data in each.items()}


def rows(files) -> dict[str, dict[str, str]]:
    table = csv.DictReader(io.StringIO(files["gradebook.csv"].decode(), newline=""))
    return {row["student_id"]: row for row in table}


def said(material) -> str:
    return "\n".join(line.text for line in material.told)


# -- the roster


def test_students_are_known_by_id_mail_or_name_and_the_gradebook_has_their_names():
    _, files = made(handed("u1", "alan@uni.example"), Classroom(ROSTER))
    found = rows(files)
    assert [found[key]["last_name"] for key in ("u1", "u2", "u3")] == ["Lovelace", "Turing", "Hopper"]
    assert found["u2"]["score"] == "12.5"
    assert rows(made(handed("Ada Lovelace"), Classroom(ROSTER))[1])["u1"]["email"] == "ada@uni.example"


def test_who_handed_in_nothing_is_named_and_has_no_zero_unless_asked():
    material, files = made(handed("u1", "u2"), Classroom(ROSTER))
    assert "1 of 3 on the roster handed in nothing: u3" in said(material)
    assert rows(files)["u3"]["score"] == ""
    assert rows(made(handed("u1"), Classroom(ROSTER, missing_is_zero=True))[1])["u3"]["score"] == "0"


def test_who_is_not_on_the_roster_is_loud():
    material, _ = made(handed("u1", "stranger"), Classroom(ROSTER))
    (line,) = [line for line in material.told if line.loud]
    assert "stranger" in line.text and "u1" not in line.text


# -- late days


@pytest.mark.parametrize(("days", "percent"), [(0, 0), (1, 0), (2, 10), (4, 30), (6, 50), (40, 50)])
def test_the_late_rule(days, percent):
    assert RULE.percent(days) == percent


def test_late_days_are_counted_from_the_due_date_by_days_started():
    times = {"a": "2026-03-01T22:59:00+00:00", "b": "2026-03-01T23:00:00+00:00", "c": "2026-03-04T00:00:00+01:00"}
    of_class = Classroom(due=DUE, times=times)
    assert [of_class.days_late(name, None) for name in "abc"] == [0, 1, 3]
    assert of_class.days_late("nobody", None) is None
    assert of_class.days_late("c", Student("c", extension_days="2")) == 1
    assert of_class.days_late("c", Student("c", late_days="0")) == 0


def test_late_points_are_deducted_and_the_student_reads_why():
    _, files = made(handed("u2"), Classroom(ROSTER, DUE, late=RULE))
    row = rows(files)["u2"]
    assert (row["raw_score"], row["late_submission_penalty"], row["score"]) == ("12.5", "2.5", "10")
    assert row["duedate"] == DUE
    page = files["feedback/u2.html"].decode()
    assert "Handed in 3 days late (1 day free, then 10 % a day, 50 % at most)" in page and "10 of 12.5" in page


def test_a_time_that_nobody_knows_costs_nothing_and_is_loud():
    material, files = made(handed("u1"), Classroom(ROSTER, DUE, late=RULE))
    assert rows(files)["u1"]["score"] == "12.5"
    assert any(line.loud and "no submission time is known" in line.text for line in material.told)


def test_nbgraders_timestamp_is_read(tmp_path):
    small = small_lab.lab()
    for name, text in (("ada", "2026-03-02 10:00:00.5 UTC"), ("alan", "2026-03-02T10:00:00+02:00"), ("grace", "soon")):
        folder = tmp_path / "submitted" / name / small.name
        folder.mkdir(parents=True)
        (folder / f"{small.name}.ipynb").write_bytes(as_bytes(released(small)))
        (folder / "timestamp.txt").write_text(text, encoding="utf-8")
    found = take_in(tmp_path / "submitted", small).found
    assert handed_in.times(found) == {"ada": "2026-03-02T10:00:00.500000+00:00", "alan": "2026-03-02T10:00:00+02:00"}


# -- marks set by hand


def test_a_mark_set_by_hand_shows_everywhere_with_its_reason():
    by_hand = Override("u1", "lab05-total-results", 3, "The text was unclear.")
    _, files = made(handed("u1", outcomes=WRONG), Classroom(ROSTER, overrides=(by_hand,)))
    before = rows(made(handed("u1", outcomes=WRONG), Classroom(ROSTER))[1])["u1"]["score"]
    assert float(rows(files)["u1"]["score"]) == float(before) + 3
    for name in ("feedback/u1.html", "feedback/u1.md"):
        assert "set by your instructor" in files[name].decode()
    assert "The text was unclear." in files["feedback/u1.html"].decode()


def test_a_total_set_by_hand_is_final_and_serves_who_handed_in_nothing():
    overrides = (Override("u2", "total", 11), Override("u3", "total", 7, "On paper."))
    _, files = made(handed("u2"), Classroom(ROSTER, DUE, late=RULE, overrides=overrides))
    found = rows(files)
    assert (found["u2"]["score"], found["u2"]["late_submission_penalty"], found["u3"]["score"]) == ("11", "0", "7")


def test_an_override_of_nobody_is_loud():
    overrides = (Override("u9", "total", 1), Override("u1", "no-such-cell", 1))
    material, _ = made(handed("u1"), Classroom(ROSTER, overrides=overrides))
    assert [line.loud for line in material.told if "overrides.csv" in line.text] == [True, True]


def results_folder(tmp_path: Path, of_class: Classroom) -> Path:
    folder = tmp_path / "results"
    results = handed("u1", "u2", outcomes=WRONG)
    report.keep(folder, results)
    report.write(folder, results, LAB, classroom=of_class)
    return folder


def test_the_command_sets_points_and_later_reports_keep_them(tmp_path, capsys):
    folder = results_folder(tmp_path, Classroom(ROSTER, DUE, late=RULE))
    assert main(["override", str(folder), "u1", "total", "9", "--why", "A late bus"]) == 0
    assert "A late bus" in (folder / "feedback" / "u1.html").read_text(encoding="utf-8")
    assert main(["override", str(folder), "u1", "total", "8.5"]) == 0
    assert main(["report", str(folder)]) == 0
    assert rows({"gradebook.csv": (folder / "gradebook.csv").read_bytes()})["u1"]["score"] == "8.5"
    assert "u3" in capsys.readouterr().out, "the roster was kept, too"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("u7", "total", "1"), "no student 'u7'"),
        (("u1", "totl", "1"), "no part 'totl'"),
        (("u1", "lab05-total-results", "99"), "4 points at most"),
        (("u1", "total", "-1"), "0 or more"),
    ],
)
def test_an_override_that_cannot_be_changes_nothing(tmp_path, capsys, arguments, words):
    folder = results_folder(tmp_path, Classroom(ROSTER))
    assert main(["override", str(folder), *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not (folder / "overrides.csv").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("student;part;points;why\nu1;total;3;Gödel\n", ""),
        ("\ufeffStudent,Part,Points\nu1,total,3\n", ""),
        ("student,part,points\nu1,total,-1\n", "row 2: points are 0 or more"),
        ("student,part,points\nu1,total\n", "row 2: 'points'"),
        ("student,points\nu1,3\n", "its columns are student, part, points, why"),
    ],
)
def test_overrides_that_a_spreadsheet_saved(tmp_path, text, words):
    (tmp_path / "overrides.csv").write_text(text, encoding="utf-8")
    if words:
        with pytest.raises(ValueError, match=words):
            classroom.overrides(tmp_path)
    else:
        assert [(each.student, each.points) for each in classroom.overrides(tmp_path)] == [("u1", 3)]


# -- class.toml


def test_a_class_file_is_read_and_kept(tmp_path):
    (tmp_path / "roster.csv").write_text("Student_ID,Last Name,points\nu1,Lovelace,3\n\n", encoding="utf-8")
    text = f'roster = "roster.csv"\ndue = {DUE}\n[late]\npercent_per_day = 10\nfree_days = 1\nmost_percent = 50\n'
    (tmp_path / "class.toml").write_text(text, encoding="utf-8")
    found = classroom.read(tmp_path / "class.toml")
    assert found == Classroom((Student("u1", "Lovelace"),), DUE, False, RULE, unused=("points",))
    classroom.keep(tmp_path, found)
    assert classroom.kept(tmp_path) == found
    assert "columns of the roster that aren't used: points" in said(made(handed("u1"), found)[0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("roaster = 'x.csv'", "'roaster' is not a setting"),
        ("due = 2026-03-01T23:59:00", "offset from UTC"),
        ("due = 'soon'", "isn't a date"),
        ("[late]\npercent_per_day = 10", "needs `due`"),
        (f"due = {DUE}\n[late]\npercent_per_day = 110", "percentages from 0 to 100"),
        (f"due = {DUE}\n[late]\nper_day = 10", "per_day"),
        ("roster = 'twice.csv'", "'u1' twice"),
        ("roster = 'none.csv'", "column student_id"),
        ("roster = 'nowhere.csv'", "nowhere.csv can't be read"),
        ("roster = 'columns.csv'", "column 'email' twice"),
        ("roster = 'latin.csv'", "save it as CSV UTF-8"),
        ("roster = 'nameless.csv'", "without a student_id: Hopper"),
        ("roster = 'days.csv'", "whole number up to 3,650"),
        ("roster = 5", "roster is text in quotes, not 5"),
        ("missing_is_zero = 'no'", "true or false, not no"),
        (f"due = {DUE}\nlate = 10", "late is a section, [late], not 10"),
        (f"due = {DUE}\n[late]\nfree_days = 1", "needs percent_per_day"),
        (f"due = {DUE}\n[late]\npercent_per_day = 10\nfree_days = 1.5", "free_days is a whole number, not 1.5"),
        (f"due = {DUE}\n[late]\npercent_per_day = true", "a number, not True"),
        ("due = 2026-03-01", "a date and time such as"),
    ],
)
def test_a_class_file_that_cannot_be_used_says_why(tmp_path, text, words):
    rosters = {
        "twice": "student_id\nu1\nu1\n",
        "none": "name\nAda\n",
        "columns": "student_id,Email,email\nu1,a,b\n",
        "nameless": "student_id;last_name\nu1;Turing\n;Hopper\n",
        "days": "student_id,extension_days\nu1,99999999999\n",
    }
    for name, rows in rosters.items():
        (tmp_path / f"{name}.csv").write_text(rows, encoding="utf-8")
    (tmp_path / "latin.csv").write_bytes("student_id,last_name\nu1,Gödel\n".encode("latin-1"))
    (tmp_path / "class.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"class\.toml") as problem:
        classroom.read(tmp_path / "class.toml")
    assert words in str(problem.value)


# -- Moodle's worksheet

WORKSHEET = (
    '\ufeffIdentifier,"Full name","Email address",Status,Grade,'
    '"Maximum Grade","Grade can be changed","Last modified (grade)","Feedback comments"\r\n'
    '"Participant 501","Ada Lovelace",ada@uni.example,"Submitted for grading",,12.50,Yes,-,\r\n'
    '"Participant 502","Alan Turing",alan@uni.example,"Submitted for grading",3.00,12.50,No,-,"Well, done"\r\n'
    '"Participant 503","Ada Lovelace",other@uni.example,"No submission",,12.50,Yes,-,\r\n'
).encode()


def worksheet(results, **options):
    material, files = made(results, None, moodle=WORKSHEET, **options)
    return said(material), files["moodle.csv"].decode()


def test_moodles_grades_are_filled_in_and_nothing_else_changes():
    words, text = worksheet(handed("ada@uni.example"))
    assert (
        text.splitlines()[1] == "Participant 501,Ada Lovelace,ada@uni.example,Submitted for grading,12.5,12.50,Yes,-,"
    )
    assert text.startswith("\ufeff") and "\r\n" in text and "1 grade filled in" in words


def test_moodles_downloads_are_known_by_the_number_in_their_names():
    found = [result("Ada Lovelace", GRADED, marks(*RIGHT), file="Ada Lovelace_503_assignsubmission_file_/lab.ipynb")]
    assert ",12.5,12.50,Yes,-," in worksheet(found)[1].splitlines()[3]


def test_the_roster_says_who_is_who_in_moodle():
    """A file is named by an id that the worksheet lacks, and the roster knows the address that it has."""
    _, files = made(handed("u1"), Classroom(ROSTER), moodle=WORKSHEET)
    assert ",12.5,12.50,Yes,-," in files["moodle.csv"].decode().splitlines()[1]


def test_what_moodle_has_locked_or_nobody_can_tell_apart_is_left_alone():
    words, text = worksheet(handed("alan@uni.example", "Ada Lovelace", "stranger"))
    assert text.encode() == WORKSHEET
    assert "locked there, left as they were: alan" in words and "any of 2 rows" in words and "stranger" in words


def test_a_file_that_is_no_worksheet_is_refused():
    with pytest.raises(ValueError, match="Download grading worksheet"):
        report.make(handed("a"), LAB, moodle=b"a,b\n1,2\n")
