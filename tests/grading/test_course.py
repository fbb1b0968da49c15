"""A class over workers: who is graded when, and what becomes of those on whom the grader failed."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.grading import course, pools, submission
from helpers.grading.policy import Policy
from helpers.grading.pools import Pool
from helpers.grading.results import GRADED, UNGRADED, Result
from helpers.grading.sandbox import InfrastructureFault
from tests.grading.scripted import SETTINGS, job

NAMES = ["ann", "bob", "cid", "dan", "eve", "fay"]


def good(job, settings):
    return Result(job.student, job.file, job.lab, GRADED, key=job.key)


def threads(count=2):
    return Pool(lambda: ThreadPoolExecutor(count), lambda: count)


def results(grade, names=NAMES, pool=None, settings=SETTINGS):
    with pool or threads() as opened:
        found = list(course.graded(map(job, names), settings, opened, grade))
    assert sorted(result.student for result in found) == sorted(names)  # each once
    return {result.student: result for result in found}


class Failing:
    """Fails as a grader does, on the students named, as many times as said; `together` is the most at once."""

    def __init__(self, **times):
        self.times, self.together, self._now, self._lock = times, {}, [], threading.Lock()

    def __call__(self, job, settings):
        with self._lock:
            self._now.append(job.student)
            self.together[job.student] = len(self._now)
        time.sleep(0.01)
        try:
            if self.times.get(job.student, 0) > 0:
                self.times[job.student] -= 1
                return submission.ungraded(job, InfrastructureFault("no sandbox"))
            return good(job, settings)
        finally:
            with self._lock:
                self._now.remove(job.student)


def test_everybody_gets_a_result():
    assert {result.state for result in results(good).values()} == {GRADED}


@pytest.mark.parametrize("times", [1, 2])
def test_a_fault_of_the_grader_is_tried_again_alone(times):
    grade = Failing(cid=times)
    assert results(grade)["cid"].state == GRADED
    assert grade.together["cid"] == 1


def test_after_three_faults_it_is_ungraded_and_no_zero():
    grade = Failing(cid=99)
    found = results(grade)
    assert 99 - grade.times["cid"] == 3
    assert (found["cid"].state, found["cid"].reason) == (UNGRADED, "no sandbox")
    assert {mark.outcome for mark in found["cid"].marks} == {"unjudged"}
    assert all(found[name].state == GRADED for name in NAMES if name != "cid")


def test_an_exception_from_a_worker_is_the_graders_fault_too():
    def grade(job, settings):
        if job.student == "cid":
            raise ZeroDivisionError("a bug")
        return good(job, settings)

    found = results(grade)
    assert found["cid"].state == UNGRADED and "ZeroDivisionError: a bug" in found["cid"].reason
    assert found["dan"].state == GRADED


def test_jobs_are_made_when_they_are_needed():
    made = []

    def jobs():
        for name in map(str, range(50)):
            made.append(name)
            yield job(name)

    with threads(2) as pool:
        for done, _ in enumerate(course.graded(jobs(), SETTINGS, pool, good), 1):
            assert len(made) <= done + 4


def test_a_slow_one_does_not_hold_up_the_others():
    go_on = threading.Event()

    def grade(job, settings):
        if job.student == "ann":
            assert go_on.wait(30)
        return good(job, settings)

    with threads(2) as pool:
        order = []
        for result in course.graded(map(job, NAMES), SETTINGS, pool, grade):
            order.append(result.student)
            if len(order) == len(NAMES) - 1:
                go_on.set()
    assert order[-1] == "ann"


def test_a_worker_that_says_nothing_is_given_up():
    policy = Policy(whole_seconds=0.1, judge_seconds=0.01, limits=replace(Policy().limits, start_seconds=0.1))
    settings = replace(SETTINGS, policy=policy)
    go_on = threading.Event()

    def grade(job, settings):
        if job.student == "ann":
            go_on.wait(30)
        return good(job, settings)

    found = results(grade, ["ann", "bob"], settings=settings)
    go_on.set()
    assert found["ann"].state == UNGRADED and "hung" in found["ann"].reason
    assert found["bob"].state == GRADED


# -- processes ------------------------------------------------------------------------------------------


def dies_once(job, settings):
    """Ends its process the first time that it is given cid; the file that says so is named by the job's key."""
    if job.student == "cid" and not Path(job.key).exists():
        Path(job.key).touch()
        os._exit(1)
    return good(job, settings)


def dies(job, settings):
    if job.student == "cid":
        os._exit(1)
    return good(job, settings)


@pytest.mark.slow
def test_a_worker_that_dies_harms_nobody(tmp_path):
    jobs = [job(name, key=str(tmp_path / "died")) for name in NAMES]
    with pools.processes(2) as pool:
        found = list(course.graded(jobs, SETTINGS, pool, dies_once))
    assert (tmp_path / "died").exists()
    assert sorted(result.student for result in found) == NAMES
    assert {result.state for result in found} == {GRADED}


def test_a_submission_that_always_kills_its_worker_is_the_only_one_ungraded():
    found = results(dies, pool=pools.processes(2))
    assert {name: result.state for name, result in found.items()} == {
        name: UNGRADED if name == "cid" else GRADED for name in NAMES
    }


def process(job, settings):
    return replace(good(job, settings), reason=str(os.getpid()))


def test_workers_end_with_the_pool():
    found = results(process, pool=pools.processes(2))
    until = time.monotonic() + 30
    pids = {int(result.reason) for result in found.values()}
    while time.monotonic() < until and any(Path(f"/proc/{pid}").exists() for pid in pids):
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
