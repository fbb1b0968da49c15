"""What is told of evidence, piece by piece: which finding, whose words, how many cases more, which numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.checking import fingerprint, verdicts
from helpers.checking.examine import Evidence, Outcome, Spent
from helpers.checking.exercise import Case, Exercise, Mistake, Out
from vgpu.base.errors import OutOfBounds
from vgpu.tools.sanitize.findings import Finding

OWN = Mistake("swapped", "Rows and columns are swapped.", ())
GENERAL = Mistake("over budget", "It costs more than it needs.", ())
CASE = Case("3 elements", (Out(np.zeros(3, np.float32)),))
TASK = Exercise("lab99.x", "x", "cuda", "x", lambda: [CASE], ("1", "2", "3"), mistakes=(OWN,), sanitize=True)
NOTHING = np.zeros(3, bool)
RIGHT = Outcome(CASE, np.zeros(3, np.float32), NOTHING, NOTHING)


def finding(kind: str, line: int, **others) -> Finding:
    return Finding(kind, line, f"source {line}", f"What {line}.", f"fix {line}.", **others)


MISALIGNED, UNWRITTEN = finding("misaligned", 3), finding("uninitialised", 5)
SHARED_RACE = finding("race_write_write", 4, space="shared")


@pytest.mark.parametrize(
    ("findings", "mistake", "said"),
    [
        ((MISALIGNED, UNWRITTEN), None, "What 3.\nline 3: source 3\nUsual fix: fix 3."),
        ((UNWRITTEN, MISALIGNED), GENERAL, f"{GENERAL.teach}\nWhat 5.\nline 5: source 5\nUsual fix: fix 5."),
        ((MISALIGNED,), OWN, f"{OWN.teach}\nWhat 3.\nline 3: source 3"),
        ((SHARED_RACE,), None, "What 4.\nline 4: source 4"),
        ((replace(SHARED_RACE, space="global"),), None, "What 4.\nline 4: source 4\nUsual fix: fix 4."),
    ],
)
def test_the_first_finding_is_told_and_its_cure_where_nothing_else_says_it(findings, mistake, said):
    evidence = Evidence(TASK, (RIGHT,), findings=findings)
    assert verdicts.message(evidence, mistake) == f'{said}\nStuck? check.hint("lab99.x", 1)'


@pytest.mark.parametrize(
    ("value", "alone", "mistake", "words"),
    [
        (9, "", None, "Load once."),
        (9, "", GENERAL, "Load once."),
        (9, "warp 0", GENERAL, "Load once."),
        (9, "", OWN, OWN.teach),
        (1, "warp 0", GENERAL, GENERAL.teach),  # it isn't the budget that is wrong
    ],
)
def test_words_of_a_budget_are_the_mistakes_where_that_knows_better(value, alone, mistake, words):
    spent = Spent("loads", value, 3, "Load once.", "line 7: y = x", alone)
    assert verdicts.cost(spent, mistake, TASK) == [words, "Most of it on line 7: y = x"]
    assert verdicts.cost(replace(spent, where=""), mistake, TASK) == [words]


@pytest.mark.parametrize(
    ("value", "at_most", "alone", "said"),
    [
        (1000, 999.5, "", "loads: 1,000 (at most 999.5)"),
        (30_720, 4000, "", "loads: 30,720 (at most 4,000)"),
        (1, 3, "warp 0 of block 1", "loads: does not count, as warp 0 of block 1 does most of the work"),
        (9, 3, "warp 0 of block 1", "loads: 9 (at most 3)"),
    ],
)
def test_a_budget_in_words(value, at_most, alone, said):
    assert str(Spent("loads", value, at_most, "", alone=alone)) == said


def test_three_wrong_cases_are_told_and_the_others_counted():
    cases = [("right", True, "right"), *((f"n = {n}", False, "1 of 3 wrong") for n in range(5))]
    told = [f"n = {n}: 1 of 3 wrong" for n in range(3)]
    assert verdicts.failed(cases) == [*told, "and 2 cases more"]
    assert verdicts.failed(cases[:5]) == [*told, "and 1 case more"]
    assert verdicts.failed(cases[:4]) == told


def test_a_findings_lines_are_in_order():
    place = verdicts.place_of
    assert place(replace(MISALIGNED, line=9, other_line=2)) == "misaligned access, lines 2 and 9"
    assert place(replace(MISALIGNED, other_line=3)) == "misaligned access, line 3"
    assert place(replace(MISALIGNED, line=None)) == "misaligned access"


@pytest.mark.parametrize(
    ("by", "loads", "alike"),
    [
        ([1.001, 2.0, 10.0], 100.9, True),
        ([1.01, 2.0, 10.0], 100.0, False),
        ([1.0, 2.0, 10.01], 100.0, False),
        ([1.0, 2.0, 10.0], 102.0, False),
    ],
)
def test_answers_are_the_same_but_for_rounding_and_a_hundredth_of_costs(by, loads, alike):
    case = {"wrong": 3, "masks": 7, "by": [1.0, 2.0, 10.0]}
    kept, found = ({"cases": [case | {"by": b}], "over": {"loads": n}} for b, n in ((case["by"], 100.0), (by, loads)))
    assert fingerprint.same(kept, found) is alike


@pytest.mark.parametrize(("index", "said"), [(-32, "x[-32]"), (35, "x[35]"), (-33, ""), (36, "")])
def test_an_access_far_outside_tells_no_mistake(index, said):
    error = OutOfBounds(f"out of bounds: thread (0) wrote `x[{index}]`; `x` has 4 elements", block=(0, 0, 0))
    kept = fingerprint._case(Outcome(CASE, error=error))
    assert kept == (f"OutOfBounds {said} (0, 0, 0)" if said else fingerprint.FAR)
