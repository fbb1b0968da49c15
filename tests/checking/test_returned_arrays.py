"""Functions that return arrays: compared with a tolerance, or asked to be of a form and measured by a truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.checking import fingerprint
from helpers.checking.check import check
from helpers.checking.evidence import answer_in, inputs_of, taken
from helpers.checking.examine import examine
from helpers.checking.exercise import Budget, Case, Exercise, Form, alike
from helpers.grading import judge

X = np.array([[1.0, 2.0, 4.0]], np.float32)
LABELS = Form((4,), "i", 0, 9, truth=np.array([1, 2, 3, 4]))


def row(expected, *budgets, argument=X) -> Exercise:
    return Exercise(
        key="lab99.returned",
        title="arrays",
        language="python",
        name="f",
        cases=lambda: [Case("a case", (argument,), expected=expected)],
        drawn=lambda dice: [Case("a drawn case", (argument + 1,), expected=expected)],
        hints=("", "", ""),
        budgets=budgets,
    )


@pytest.mark.parametrize(
    ("got", "right"),
    [
        (X, True),
        (X.astype(float) + 1e-6, True),
        (X + 1e-3, False),
        (X[0], False),
        (X.tolist(), False),
        (np.full_like(X, np.nan), False),
        (X.astype(str), False),
    ],
)
def test_an_array_is_alike_to_one_of_its_shape_element_by_element(got, right):
    assert alike(got, X, 1e-5) is right
    assert alike((3, got), (3, X), 1e-5) is right


def test_an_array_of_one_element_where_more_are_asked_for_is_told_by_its_shape():
    task = row(np.ones(2))
    seen = examine(lambda x: np.array([1.0]), task)
    assert fingerprint.of(seen)["cases"] == ["float64 of shape (1,)"]
    assert not check(lambda x: np.array([1.0]), task).passed


def test_whole_numbers_in_arrays_are_exact():
    large = np.array([2**60])
    assert not alike(large + 1, large, 1e-5)


@pytest.mark.parametrize(
    ("got", "lacks"),
    [
        (np.array([0, 9, 3, 3]), ""),
        (np.zeros(4, np.uint8), ""),
        ([0, 9, 3, 3], "a list and no NumPy array"),
        (np.zeros((4, 10), int), "an array of shape (4, 10)"),
        (np.zeros(4), "an array of float64"),
        (np.array([True] * 4), "an array of bool"),
        (np.array([0, 9, 3, 10]), "an array with elements above 9"),
        (np.array([-1, 9, 3, 10]), "an array with elements below 0 and above 9"),
    ],
)
def test_a_form_says_what_an_array_lacks(got, lacks):
    assert LABELS.lacks(got) == lacks
    assert alike(got, LABELS, 0) is not bool(lacks)


def test_a_form_of_fractions_is_finite_everywhere():
    form = Form((2,), "f")
    assert form.lacks(np.array([1.0, np.inf])) == form.lacks(np.array([1.0, np.nan]))
    assert form.lacks(np.array([1.0, -1e30])) == ""


def test_one_of_several_arrays_is_named_by_its_number_and_compared_element_by_element():
    report = check(lambda x: (x, x + np.array([0, 0, 1])), row((X, X)))
    assert report.cases[0][2] == "result[1]: 1 of 3 wrong; element (0, 2) is 5, should be 4"


def test_a_mistake_in_an_array_is_known_by_it_however_it_is_rounded():
    task = row((X, X))
    wrong = [fingerprint.of(examine(lambda x, e=e: (x, 2 * x + e), task)) for e in (0, 1e-6, 1e-2)]
    assert fingerprint.same(wrong[0], wrong[1])
    assert not fingerprint.same(wrong[0], wrong[2])


WRONG = Budget("wrong labels", lambda o: int((o.got != o.case.expected.truth).sum()), 1, "Train.", of="answer")


def judged(task: Exercise, answer, monkeypatch) -> dict:
    monkeypatch.setattr(judge, "exercise", lambda key: task)
    proof = taken(answer, inputs_of(task.for_marks(1)))
    assert answer_in(proof, task)
    return judge.answer({"exercise": task.key, "seed": 1, "evidence": proof, "open": False})


@pytest.mark.parametrize(
    ("labels", "results", "score"),
    [
        (np.array([1, 2, 3, 4]), True, True),
        (np.array([1, 2, 3, 9]), True, True),
        (np.array([1, 2, 9, 9]), True, False),
        (np.array([1.0, 2, 3, 4]), False, False),
        (np.array([1, 2, 3]), False, False),
        ("1234", False, False),
    ],
)
def test_what_is_trained_is_graded_by_what_it_returned(labels, results, score, monkeypatch):
    verdict = judged(row(LABELS, WRONG), lambda x: labels, monkeypatch)
    assert (verdict["results"]["right"], verdict["wrong labels"]["right"]) == (results, score)


def test_an_array_that_claims_to_equal_everything_counts_by_its_numbers(monkeypatch):
    class Liar(np.ndarray):
        def __eq__(self, other):
            return np.ones(self.shape, bool)

        def __ne__(self, other):
            return np.zeros(self.shape, bool)

    verdict = judged(row(LABELS, WRONG), lambda x: np.zeros(4, int).view(Liar), monkeypatch)
    assert not verdict["wrong labels"]["right"]


def test_of_a_hidden_case_no_number_is_told(monkeypatch):
    answers = iter([np.array([1, 2, 3, 4]), np.array([7, 7, 7, 7])])
    verdict = judged(row(LABELS, WRONG), lambda x: next(answers), monkeypatch)
    assert verdict["wrong labels"]["why"].startswith(
        "wrong labels: over the limit (at most 1) in a case that is not public"
    )


def test_a_trained_answer_is_known_by_what_it_is_like_and_not_by_its_score():
    form = replace(LABELS, tell=lambda got, truth: "one label" if len(set(got)) == 1 else "")
    prints = [fingerprint.of(examine(lambda x, n=n: np.full(4, n), row(form, WRONG))) for n in (0, 1)]
    assert prints[0] == prints[1] == {"cases": ["one label"], "over": {"wrong labels": 0}}


# -- plans


class NoPlan(ValueError):
    pass


def plays(plan):
    """A plan is how often to add 1 to zeros."""
    if plan < 0:
        raise NoPlan("nothing can be done so often")
    return np.zeros(3) + min(plan, 2), {"additions": plan}


PLANNED = replace(
    row(None, Budget("additions", lambda outcome: outcome.played["additions"], 2, "Two do.", of="answer")),
    cases=lambda: [Case("a plan", (), expected=np.full(3, 2.0), plays=plays)],
)


@pytest.mark.parametrize(
    ("plan", "right", "within"), [(2, True, True), (3, True, False), (1, False, False), (-1, False, False)]
)
def test_a_plan_is_judged_by_what_comes_of_it_where_no_code_of_its_author_is(plan, right, within):
    seen = examine(answer_in(taken(lambda: plan, inputs_of(PLANNED)), PLANNED), PLANNED)
    assert (seen.right, seen.passed) == (right, within)
    assert [budget.value for budget in seen.budgets] == ([plan] if right else [])


def test_why_a_plan_could_not_be_carried_out_is_told():
    assert "NoPlan: nothing can be done so often" in check(lambda: -1, PLANNED).message


@pytest.mark.parametrize(("by", "same"), [(1, True), (1 + 1e-4, True), (1 + 1e-3, False), (1.01, False)])
def test_sums_of_errors_are_compared_up_to_rounding(by, same):
    kept, found = ({"cases": [{"wrong": 3, "masks": 5, "by": [size, size, size]}]} for size in (1000.0, 1000.0 * by))
    assert fingerprint.same(kept, found) is same


@pytest.mark.parametrize(("by", "same"), [(1, True), (1.009, True), (1.02, False), (2, False)])
def test_costs_are_compared_to_one_part_in_a_hundred(by, same):
    kept, found = ({"cases": ["right"], "over": {"bytes": size}} for size in (500.0, 500.0 * by))
    assert fingerprint.same(kept, found) is same
