"""A verdict on what was seen of an answer: whose words, which numbers, and what of a hidden case."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.checking import verdicts
from helpers.checking.examine import Evidence, Spent
from helpers.checking.exercise import Budget
from helpers.checking.probe import RESULTS
from helpers.grading import judge
from tests.checking.test_verdicts import CASE, OWN, RIGHT, TASK

BUDGET = Budget("loads", lambda profile: 0, 3, "Load once.")
TASK = replace(TASK, budgets=(BUDGET,))
WRONG = replace(RIGHT, wrong=np.ones(3, bool))


def spent(value: float, hidden: bool = False, alone: str = "") -> Spent:
    return Spent("loads", value, 3, "Load once.", "line 7: y = x", alone, case=replace(CASE, hidden=hidden))


@pytest.mark.parametrize(
    ("seen", "open", "why"),
    [
        (spent(2), True, "loads: 2 (at most 3)"),
        (spent(2, hidden=True), True, "loads: within the limit (at most 3)"),
        (spent(2), False, "loads: within the limit (at most 3)"),
        (spent(9), True, "loads: 9 (at most 3). Load once.\nMost of it on line 7: y = x"),
        (spent(9, hidden=True), True, "loads: over the limit (at most 3) in a case that is not public. Load once."),
        (spent(9), False, "loads: over the limit (at most 3). Load once."),
        (spent(9, alone="warp 0"), False, "loads: over the limit (at most 3). Load once."),
        (spent(2, alone="warp 0"), False, "loads: does not count. Load once."),
    ],
)
def test_a_budget_in_words_that_a_student_may_read(seen, open, why, monkeypatch):
    monkeypatch.setattr(verdicts, "named", lambda evidence: None)
    assert judge.verdict(TASK, Evidence(TASK, (RIGHT,), (seen,)), open)["loads"]["why"] == why


def test_a_mistake_in_the_results_is_none_in_their_cost(monkeypatch):
    monkeypatch.setattr(verdicts, "named", lambda evidence: OWN)
    found = judge.verdict(TASK, Evidence(TASK, (RIGHT, WRONG), partly=(spent(9),)))
    assert (found[RESULTS]["mistake"], found[RESULTS]["share"]) == (OWN.name, judge.PARTLY)
    assert found["loads"]["mistake"] is None and "Load once." in found["loads"]["why"]
    whole = judge.verdict(TASK, Evidence(TASK, (RIGHT,), (spent(9),)))["loads"]
    assert whole["mistake"] == OWN.name and OWN.teach in whole["why"]
