"""What one submission may take in all."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from helpers.grading import submission
from helpers.grading.merged import Planned
from helpers.grading.policy import Policy
from helpers.grading.sandbox import JobFault
from helpers.grading.worker import Settings
from tests.grading.scripted import Kernels


def judge_of(policy: Policy):
    """What a marker asks, and the session whose time it has."""
    sandboxes = SimpleNamespace(student=SimpleNamespace(kernel=Kernels({})), runner=None, judge=None)
    job = SimpleNamespace(planned=Planned({}, (), ()))
    session, marker = submission._set_up(sandboxes, Settings(3, policy, ""), job)
    return session, marker._judge


def test_judging_has_the_time_that_cells_have_left(monkeypatch):
    given = []

    def judged(judge, runner, request, allowance):
        given.append((request, allowance.seconds))
        allowance.used = 2.0

    monkeypatch.setattr(submission, "judged", judged)
    session, judge = judge_of(Policy(judge_seconds=60, whole_seconds=5))
    session.spend(1)
    judge("lab99.double", {"kernel": 1}, False)
    judge("lab99.double", {"kernel": 1}, False)
    request = {"exercise": "lab99.double", "seed": 3, "evidence": {"kernel": 1}, "open": False}
    assert given == [(request, 4.0), (request, 2.0)]
    with pytest.raises(JobFault) as caught:
        judge("lab99.double", {}, True)
    assert caught.value.outcome == "timeout" and len(given) == 2


@pytest.mark.parametrize(("outcome", "tries"), [("crash", 2), ("timeout", 1), ("memory", 1)])
def test_only_a_crash_has_a_second_try(monkeypatch, outcome, tries):
    given = []

    def judged(*asked):
        given.append(asked)
        raise JobFault(outcome, "so it came")

    monkeypatch.setattr(submission, "judged", judged)
    _, judge = judge_of(Policy())
    with pytest.raises(JobFault, match="so it came"):
        judge("lab99.double", {}, True)
    assert len(given) == tries
