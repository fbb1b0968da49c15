"""What other programs read: Gradescope's JSON and JUnit's XML."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from helpers.grading import report
from helpers.grading.results import GRADED, REJECTED, STUDENT_FAULT, UNGRADED
from tests.grading.report.made_class import LAB, NAMES, RACE, RIGHT, SECRET_NOTE, made_class, marks, result


@pytest.fixture(scope="module")
def material():
    return report.make(made_class(), LAB)[0]


@pytest.fixture(scope="module")
def files():
    return report.make(made_class(), LAB)[1]


# -- Gradescope


def test_gradescope_is_what_its_specification_has(files, material):
    by_stem = {f"gradescope/{entry.stem}.json": entry for entry in material.entries}
    for name, data in files["gradescope"].items():
        entry, found = by_stem[name], json.loads(data)
        assert found["visibility"] in ("hidden", "after_due_date", "after_published", "visible")
        assert found["stdout_visibility"] == "hidden", "what the grader prints is not for students"
        assert found["output_format"] == found["test_output_format"] == found["test_name_format"] == "text"
        assert isinstance(found["score"], int | float) and found["score"] == (entry.points or 0)
        if entry.state == REJECTED:
            assert found["tests"] == [] and "could not be read" in found["output"]
            continue
        assert sum(test["score"] for test in found["tests"]) == found["score"]
        assert sum(test["max_score"] for test in found["tests"]) == LAB.out_of
        assert len({test["name"] for test in found["tests"]}) == len(LAB.parts)
        for test, part in zip(found["tests"], LAB.parts, strict=True):
            right = entry.marks[part.cell].outcome == "right"
            assert test["status"] == ("passed" if right else "failed")
            assert (test["output_format"], test["visibility"]) == ("text", "visible")
        assert ("did not run to its end" in found["output"]) == (entry.state == STUDENT_FAULT)


def test_gradescope_gets_no_score_for_what_is_not_graded(files, material):
    for entry in material.entries:
        assert (f"gradescope/{entry.stem}.json" in files["gradescope"]) == (entry.state != UNGRADED)


def test_gradescope_names_the_misconception(files):
    found = json.loads(files["gradescope"]["gradescope/student01.json"])
    assert f"What was seen: {RACE}" in found["tests"][0]["output"]
    assert "line 9: partial" in found["tests"][0]["output"]


# -- JUnit


@pytest.fixture(scope="module")
def suites(files):
    return ElementTree.fromstring(files["junit"]["junit.xml"])


def test_junit_has_a_suite_a_submission_and_a_case_a_cell(suites):
    assert suites.tag == "testsuites" and len(suites) == 60
    total = {"tests": 0, "failures": 0, "errors": 0}
    for suite in suites:
        assert [child.tag for child in suite] == ["properties"] + ["testcase"] * len(LAB.parts)
        counted = {
            "tests": len(suite.findall("testcase")),
            "failures": len(suite.findall("testcase/failure")),
            "errors": len(suite.findall("testcase/error")),
        }
        assert {name: int(suite.get(name)) for name in counted} == counted
        total = {name: total[name] + counted[name] for name in total}
        assert all(len(case) <= 1 for case in suite.findall("testcase")), "a case fails or errs once"
        for trouble in suite.findall("testcase/*"):
            assert trouble.get("message") and trouble.get("type")
    assert {name: int(suites.get(name)) for name in total} == total
    assert total["errors"] == 4 * len(LAB.parts)


def test_junit_cases_are_told_apart_by_classname_and_name(suites):
    cases = [(case.get("classname"), case.get("name")) for case in suites.iter("testcase")]
    assert len(set(cases)) == len(cases) == 60 * len(LAB.parts)


def test_junit_errs_for_what_is_not_graded_and_fails_for_what_is_not_right(suites):
    by_state = {}
    for suite in suites:
        state = suite.find("properties/property[@name='state']").get("value")
        by_state.setdefault(state, []).append(suite)
    assert {state: len(found) for state, found in by_state.items()} == {
        UNGRADED: 4,
        GRADED: 46,
        STUDENT_FAULT: 5,
        REJECTED: 5,
    }
    assert all(int(suite.get("errors")) == 5 and suite.get("failures") == "0" for suite in by_state[UNGRADED])
    assert all(suite.get("errors") == "0" for state in (GRADED, STUDENT_FAULT, REJECTED) for suite in by_state[state])
    race = next(suite for suite in suites if suite.get("name") == "student01")
    assert race.find("testcase/failure").get("message") == "not yet: a race"


def test_junit_has_only_signs_that_xml_allows(files):
    text = files["junit"]["junit.xml"].decode()
    assert not re.search("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    assert "<script>" not in text and SECRET_NOTE not in text
    assert len(ElementTree.fromstring(text)) == len(NAMES) + 30


def test_a_right_answer_has_no_trouble():
    made = report.make([result("ada", GRADED, marks(*RIGHT))], LAB, ["junit"])[1]
    suites = ElementTree.fromstring(made["junit"]["junit.xml"])
    assert (suites.get("failures"), suites.get("errors"), suites.get("tests")) == ("0", "0", "5")
    assert not suites.findall(".//testcase/*")
