"""A kernel that is right in the measured launches and wrong in another case keeps half of its results and its costs."""

import pytest

from helpers.checking.exercise import Budget
from helpers.checking.probe import RESULTS
from helpers.grading import judge
from helpers.grading.marking import Marker
from helpers.grading.merged import GRADED, PlannedCell
from helpers.grading.sandbox import InfrastructureFault, Run
from tests.checking.test_evidence import ANSWERS, INDEX, SECTORS, double, double_case, judged, kernel
from tests.grading.scripted import shown

STORES = "stores"


def whole_blocks(rng):
    return [double_case(int(rng.integers(200, 220))), double_case(64 * int(rng.integers(4, 9)))]


@pytest.fixture(autouse=True)
def task(monkeypatch):
    made = double(
        measured=lambda: double_case(128),
        drawn=whole_blocks,
        budgets=(*double().budgets, Budget(STORES, lambda profile: profile["global_store_requests"], 0, "None.")),
    )
    monkeypatch.setattr("helpers.checking.exercise.exercises", lambda: {made.key: made})
    return made


def test_a_missing_guard_costs_half_of_the_results_and_no_budget(task):
    found = judged(task, kernel(ANSWERS["no guard"]))
    assert not found[RESULTS]["right"] and found[RESULTS]["share"] == 0.5
    assert found[RESULTS]["why"].startswith(judge.PARTLY_RIGHT)
    assert found[SECTORS]["right"] and not found[STORES]["right"], found


@pytest.mark.parametrize(
    "body",
    [
        ANSWERS["copies"],
        f"{INDEX} volatile __shared__ int a; a = threadIdx.x; if (i < n) out[i] = 2 * x[i];",
        ANSWERS["nothing"],
        ANSWERS["does not compile"],
        f"{INDEX} if (i < n && (n == 128 || n < 98)) out[i] = 2 * x[i];",
        f"{INDEX} if (n != 97) out[i] = n == 128 ? 2 * (i + 1) : 0;",
    ],
    ids=["copies", "race", "nothing", "does not compile", "sizes", "answers"],
)
def test_what_is_wrong_in_a_measured_launch_or_races_earns_nothing(task, body):
    found = judged(task, kernel(body))
    assert not any(part["right"] or part.get("share") for part in found.values()), found


CELL = PlannedCell(GRADED, "one-results", "lab99.one", "results", 3.0)


def marked(share):
    marker = Marker(lambda key, evidence, open: {"results": {"right": False, "share": share, "why": "guard"}}, 10_000)
    return marker.ended(CELL, "", Run([shown("lab99.one", "results", {"kernel": "k"})], None, "ok", 0.25, ""))


def test_a_share_becomes_points():
    mark = marked(0.5)
    assert (mark.points, mark.out_of, mark.outcome) == (1.5, 3.0, "wrong")


@pytest.mark.parametrize("share", [2.0, -1.0, "1", True, float("nan")])
def test_only_shares_become_points(share):
    with pytest.raises(InfrastructureFault):
        marked(share)
