"""Gradebooks: nbgrader's columns, and Canvas's template filled."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from helpers.grading import report
from helpers.grading.report.words import listed
from helpers.grading.results import GRADED, REJECTED, UNGRADED
from tests.grading.report.made_class import LAB, NAMES, RIGHT, WRONG, made_class, marks, result

NBGRADER = (
    "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty,"
    "score,max_score"
)


def files(results, **options) -> dict[str, bytes]:
    """All files of all formats."""
    made = report.make(results, LAB, **options)[1]
    return {name: data for some in made.values() for name, data in some.items()}


def told(results, **options) -> str:
    return "\n".join(line.text for line in report.make(results, LAB, **options)[0].told)


def gradebook(results, **options) -> list[dict[str, str]]:
    text = files(results, **options)["gradebook.csv"].decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_names_past_the_twentieth_are_counted():
    assert listed(list("abc")) == "a; b; c"
    assert listed(list("abcde"), 3) == "a; b; c and 2 more"


def test_the_slowest_come_first():
    one, two = (result(name, GRADED, marks(*RIGHT), seconds=n) for n, name in enumerate(("ada", "zoe"), 1))
    rows = list(csv.reader(io.StringIO(files([one, two])["seconds.csv"].decode())))[1:]
    assert [row[0] for row in rows] == ["zoe"] * 6 + ["ada"] * 6
    assert [float(row[4]) for row in rows] == [2, 1.25, 1, 0.75, 0.5, 0.25, 1, 1.25, 1, 0.75, 0.5, 0.25]


# -- nbgrader's columns


def test_columns_are_nbgraders():
    assert files(made_class())["gradebook.csv"].decode().split("\n")[0] == NBGRADER


def test_one_row_a_student_and_no_zero_for_whoever_was_not_graded():
    results = made_class()
    rows = gradebook(results)
    assert len(rows) == len(results) == 60
    empty = [row for row in rows if row["score"] == "" and row["student_id"] != "ada"]  # two are called ada
    assert len(empty) == sum(found.state in (UNGRADED, REJECTED) for found in results) == 9
    assert all(row["raw_score"] == row["late_submission_penalty"] == "" for row in empty)
    for row in rows:
        assert float(row["max_score"]) == LAB.out_of == 12.5
        if row["score"]:
            assert 0 <= float(row["score"]) <= 12.5
            assert row["score"] == row["raw_score"]


def test_rejected_submissions_get_zero_only_when_asked():
    rows = {row["student_id"]: row for row in gradebook(made_class(), zero_rejected=True)}
    assert rows["student00"]["score"] == "0"
    assert rows["student04"]["score"] == "", "a submission that is not graded is no zero even then"


def test_nobody_has_the_score_of_another_who_is_called_so():
    """A space before a name, or a sign that is not shown, makes another student, who reads the same."""
    several = [result(name, GRADED, marks(*RIGHT)) for name in ("bob", " bob", "bob\u202e", "bob\u202d", "alice")]
    assert [(row["student_id"], row["score"]) for row in gradebook(several)] == [
        ("bob", ""), ("alice", "12.5"), ("bob", ""), ("bob\ufffd", ""), ("bob\ufffd", ""),
    ]  # fmt: skip
    assert "no score for bob: 2 students are called so" in told(several)


def test_an_unjudged_or_missing_mark_leaves_the_score_empty():
    half = marks("right", "unjudged", "right", "right", "right")
    rows = gradebook(
        [
            result("unjudged", GRADED, half),
            result("missing", GRADED, marks(*RIGHT)[:-1]),
            result("nan", GRADED, (replace(marks(*RIGHT)[0], points=float("nan")), *marks(*RIGHT)[1:])),
            result("more", GRADED, (replace(marks(*RIGHT)[0], points=400), *marks(*RIGHT)[1:])),
            result("other lab", GRADED, (*marks(*RIGHT), replace(marks(*RIGHT)[0], cell="lab06-results"))),
            result("odd state", "fine", marks(*RIGHT)),
            result("right", GRADED, marks(*RIGHT)),
        ]
    )
    scores = {row["student_id"]: row["score"] for row in rows}
    assert scores.pop("right") == "12.5"
    assert set(scores.values()) == {""} and len(scores) == 6


def test_no_field_is_a_formula_and_numbers_stay_numbers():
    for name in ("gradebook.csv", "seconds.csv"):
        for row in csv.reader(io.StringIO(files(made_class())[name].decode(), newline="")):
            for field in row:
                assert not field.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    ids = {row["student_id"] for row in gradebook(made_class())}
    assert {"'=cmd|' /C calc'!A0", "'+1+1", "'-2+3", "'@SUM(A1:A9)", "'=1+1", "'=2"} <= ids
    assert {"李雷", "Doe, Jane", "a/b\\c:d*e?f"} <= ids


@pytest.mark.parametrize("name", ["=1", " =1", "\u200b=1", "＝1", "＋1", "－1", "＠x", "\n=1", "\x1b[31m=1", "-", "@"])
def test_formulas_in_disguise(name):
    (row,) = gradebook([result(name, GRADED, marks(*RIGHT))])
    assert row["student_id"].startswith("'")
    assert row["score"] == "12.5"


def test_of_several_files_the_one_that_ran_counts():
    ran = result("ada", GRADED, marks(*RIGHT), file="a.ipynb")
    unread = result("ada", REJECTED, reason="not JSON", file="b.ipynb")
    assert [row["score"] for row in gradebook([ran, unread])] == ["12.5"]
    other = result("ada", GRADED, marks(*WRONG), file="c.ipynb")
    assert [row["score"] for row in gradebook([ran, other])] == [""], "nobody but the instructor can say which counts"
    assert "no score for ada" in told([ran, other])
    waiting = result("ada", UNGRADED, reason="gone", file="d.ipynb")
    assert [row["score"] for row in gradebook([ran, waiting])] == [""]


# -- Canvas

HEAD = "Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (17),Lab 5: Reductions (4711),Current Score,Final Score"
EXPORT = (
    "\ufeff"
    + HEAD
    + '\r\n,,,,,,Manual Posting,,\r\n    Points Possible,,,,,10,12.5,(read only),(read only)\r\n"Lovelace, Ada",101,S1,'
    'ada@uni.example,"A; B",9.5,,95.0,95.0\r\n"O\'Neil, Zoë",102,S2,zoe,A,  7 ,3,70,"7""0"\r\n"Doe, Jane",103,S3,jd,'
    'A,,N/A,,\r\n"Doe, John",104,S4,jd2,A,,,,\r\n"Doe, John",105,S5,jd3,A,,,,\r\n"Roe, Max",106,S6,max,A,,EX,,\r\n'
    '"Poe, Ann",107,S7,ann,A,,,,\r\n"Student, Test",999,,deadbeef,A,,,,\r\n'
).encode()


def filled(results, template=EXPORT, **options) -> list[list[str]]:
    data = files(results, canvas=template, **options)["canvas.csv"]
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def handed_in(*students: str, points: tuple = RIGHT):
    return [result(student, GRADED, marks(*points)) for student in students]


@pytest.mark.parametrize(
    "student", ["ada@uni.example", "ADA@uni.example", "S1", "101", "Ada Lovelace", "lovelace,  ada"]
)
def test_students_are_known_by_login_number_or_name(student):
    rows = filled(handed_in(student))
    assert {row[0]: row[6] for row in rows}["Lovelace, Ada"] == "12.5"


@pytest.mark.parametrize(
    ("student", "number", "row"),
    [
        ("lovelaceada", 101, "Lovelace, Ada"),
        ("oneilzoë", 102, "O'Neil, Zoë"),
        ("oneilzoe", 77, "O'Neil, Zoë"),
        ("doejohn_105", 105, "Doe, John"),
    ],
)
def test_students_are_known_by_the_names_of_canvass_download(student, number, row):
    file = f"{student.split('_')[0]}_{number}_9001_lab.ipynb"
    rows = filled([result(student, GRADED, marks(*RIGHT), file=file)])
    assert [(line[0], line[1]) for line in rows if line[6] == "12.5" and "Points" not in line[0]] == [
        (row, {"Lovelace, Ada": "101", "O'Neil, Zoë": "102"}.get(row, "105"))
    ]


def test_a_name_of_canvass_download_that_two_have_is_nobodys_without_its_number():
    results = [result("doejohn", GRADED, marks(*RIGHT), file="doejohn_77_9001_lab.ipynb")]
    assert files(results, canvas=EXPORT)["canvas.csv"] == EXPORT
    assert "any of 2 rows" in told(results, canvas=EXPORT)


def test_all_else_stays_as_it_was():
    data = files(handed_in("ada@uni.example", "zoe"), canvas=EXPORT)["canvas.csv"]
    plain = EXPORT.replace(b'"A; B"', b"A; B")  # quotes that are not needed go
    assert data == plain.replace(b"9.5,,95.0", b"9.5,12.5,95.0").replace(b"  7 ,3,70", b"  7 ,12.5,70")


def test_bytes_that_are_no_utf_8_stay_too():
    template = EXPORT.replace(b"O'Neil", b"O\xff\xfeNeil")
    data = files(handed_in("zoe"), canvas=template)["canvas.csv"]
    assert b'"O\xff\xfeNeil, Zo' in data and b"  7 ,12.5,70" in data


def test_without_a_verdict_nothing_is_changed():
    results = [result("ada@uni.example", UNGRADED, reason="gone"), result("zoe", REJECTED, reason="not JSON")]
    assert files(results, canvas=EXPORT)["canvas.csv"] == EXPORT


def test_who_is_not_matched_is_told_both_ways():
    text = told(handed_in("ada@uni.example", "stranger"), canvas=EXPORT)
    assert "NOT IN THE TEMPLATE" in text and "stranger" in text
    assert "no submission is theirs" in text and "Poe, Ann" in text
    assert "Student, Test" not in text
    loud = [line.text for line in report.make(handed_in("stranger"), LAB, canvas=EXPORT)[0].told if line.loud]
    assert any("stranger" in line for line in loud)


def test_whoever_could_be_two_is_nobody():
    results = handed_in("John Doe")
    assert files(results, canvas=EXPORT)["canvas.csv"] == EXPORT
    assert "any of 2 rows" in told(results, canvas=EXPORT)
    both = handed_in("S1", "ada@uni.example")
    assert files(both, canvas=EXPORT)["canvas.csv"] == EXPORT
    assert "are all Lovelace, Ada" in told(both, canvas=EXPORT)


def test_excused_and_unassigned_stay_so():
    results = handed_in("jd", "max")
    assert files(results, canvas=EXPORT)["canvas.csv"] == EXPORT
    assert "left as they were: jd; max" in told(results, canvas=EXPORT)
    lower = EXPORT.replace(b",EX,", b",ex,")
    assert files(results, canvas=lower)["canvas.csv"] == lower


def test_a_replaced_score_and_other_points_possible_are_told():
    assert "now replaced: zoe" in told(handed_in("zoe"), canvas=EXPORT)
    assert "replaced" not in told(handed_in("zoe"), canvas=EXPORT.replace(b"  7 ,3,70", b"  7 ,12.5,70"))
    other = EXPORT.replace(b"10,12.5,", b"10,100,")
    assert "100 points possible, the lab 12.5" in told(handed_in("zoe"), canvas=other)
    assert "points possible, the lab" not in told(handed_in("zoe"), canvas=EXPORT)


def test_semicolons_and_two_columns_of_names():
    text = (
        "LastName;FirstName;ID;SIS User ID;SIS Login ID;Section;Lab 5: Reductions (4711)\n"
        "    Points Possible;;;;;;12,5\nLovelace;Ada;1;S1;ada;A;\n"
    )
    data = files(handed_in("Ada Lovelace"), canvas=text.encode())["canvas.csv"].decode()
    assert data == text.replace("ada;A;", "ada;A;12.5")
    assert "not scaled" not in told(handed_in("Ada Lovelace"), canvas=text.encode())


def test_another_column_by_its_heading():
    rows = filled(handed_in("zoe"), column="Homework 1")
    assert {row[0]: row[5] for row in rows}["O'Neil, Zoë"] == "12.5"


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (b"", "first line is not Student"),
        (b"name,points\nada,3\n", "first line is not Student"),
        (EXPORT.replace(b"Lab 5: Reductions (4711)", b"Lab 6 (4712)"), "there are: Homework 1 (17); Lab 6 (4712)"),
        (EXPORT.replace(b"Homework 1 (17)", b"lab05_reduction (9)"), "several columns"),
        (EXPORT.replace(b"10,12.5,", b"10,(read only),"), "read only"),
        (EXPORT.decode("utf-8-sig").encode("utf-16"), "not UTF-8"),
        (EXPORT.replace(b'"Lovelace, Ada"', b'"Lovelace, Ada'), "quotes"),
        (EXPORT.replace(b'"Lovelace, Ada"', b'"Lovelace" Ada'), "quotes"),
        (EXPORT + b"short,1\r\n", "shorter than the header"),
    ],
)
def test_what_is_no_template_is_told(template, words):
    with pytest.raises(ValueError, match="cannot be filled") as problem:
        files(handed_in("zoe"), canvas=template)
    assert words in str(problem.value)


def test_canvas_without_a_template_is_asked_for():
    assert "canvas.csv" not in files(made_class())
    with pytest.raises(ValueError, match="fills a template"):
        report.make(made_class(), LAB, ["canvas"])


def test_hostile_names_do_not_break_the_template():
    rows = filled(made_class())
    assert [len(row) for row in rows] == [9] * len(rows)
    assert len(NAMES) == len(set(NAMES))
