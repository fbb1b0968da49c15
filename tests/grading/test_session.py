"""A kernel that dies is started anew, and what did not kill it is run again."""

from contextlib import nullcontext

from helpers.grading.policy import Policy
from helpers.grading.sandbox import Run
from helpers.grading.session import Session
from tests.grading.scripted import Kernels


def run_all(kernels, codes, policy=None, **options):
    session = Session(kernels, policy or Policy(), **options)
    return session, [session.run(number, code) for number, code in enumerate(codes)]


def test_one_kernel_runs_all_cells_where_none_dies():
    kernels = Kernels({"b": "error"})
    session, runs = run_all(kernels, "abc")
    assert kernels.ran == [["a", "b", "c"]]
    assert [run.outcome for run in runs] == ["ok", "error", "ok"]
    assert session.deaths == []


def test_after_a_death_the_cells_before_run_again_and_the_culprit_does_not():
    kernels = Kernels({"b": "crash"})
    session, runs = run_all(kernels, "abcd")
    assert kernels.ran == [["a", "b"], ["a", "c", "d"]]
    assert [run.outcome for run in runs] == ["ok", "crash", "ok", "ok"]
    assert [(death.cell, death.outcome) for death in session.deaths] == [(1, "crash")]


def test_a_cell_that_raised_runs_again_since_later_ones_may_need_what_it_did_before():
    kernels = Kernels({"a": "error", "b": "timeout"})
    run_all(kernels, "abc")
    assert kernels.ran[-1] == ["a", "c"]


def test_no_kernel_is_started_for_nobody():
    kernels = Kernels({"c": "memory"})
    session, _ = run_all(kernels, "abc")
    assert len(kernels.ran) == 1
    session.close()


def test_cells_that_leave_nothing_behind_are_not_run_again():
    kernels = Kernels({"b": "crash"})
    session = Session(kernels, Policy())
    for number, (code, again) in enumerate([("a", True), ("graded", False), ("b", True), ("c", True)]):
        session.run(number, code, again)
    assert kernels.ran[-1] == ["a", "c"]


def test_a_cell_that_kills_only_the_second_kernel_is_left_out_of_the_third():
    often = iter(["ok", "crash", "ok"])
    kernels = Kernels({"a": lambda timeout: next(often), "b": "crash"})
    session, runs = run_all(kernels, "abc")
    assert kernels.ran == [["a", "b"], ["a"], ["c"]]
    assert runs[2].outcome == "ok"
    assert [death.cell for death in session.deaths] == [1, 0]


def test_deaths_are_bounded():
    kernels = Kernels(dict.fromkeys("abcdef", "crash"))
    _, runs = run_all(kernels, "abcdef", Policy(deaths=3))
    assert len(kernels.ran) == 3
    assert [run.outcome for run in runs] == ["crash"] * 6
    assert "ended the kernel 3 times" in runs[-1].says


def test_the_time_of_all_cells_together_is_bounded():
    now = [0.0]

    def slow(timeout):
        now[0] += 8
        return "ok"

    kernels = Kernels(dict.fromkeys("abcd", slow))
    _, runs = run_all(kernels, "abcd", Policy(whole_seconds=20), clock=lambda: now[0])
    assert [run.outcome for run in runs] == ["ok", "ok", "ok", "timeout"]
    assert "20 s" in runs[-1].says


def test_a_cell_gets_no_more_than_is_left():
    now, given = [0.0], []

    def slow(timeout):
        given.append(timeout)
        now[0] += 15
        return "ok"

    run_all(Kernels({"a": slow, "b": slow}), "ab", Policy(cell_seconds=10, whole_seconds=20), clock=lambda: now[0])
    assert given == [10, 5]


def test_a_cell_that_trains_may_take_longer_than_others():
    given = []

    class Patient:
        def execute(self, code, timeout):
            given.append(timeout)
            return Run([], None, "ok", 0.0, "")

    session = Session(lambda: nullcontext(Patient()), Policy(cell_seconds=5), clock=lambda: 0.0, patience={1: 4.0})
    for number in range(3):
        session.run(number, "pass")
    assert given == [5, 20, 5]
