"""A kernel that dies is started anew, and what did not kill it is run again."""

from contextlib import nullcontext

import pytest

from helpers.grading.policy import Policy
from helpers.grading.sandbox import InfrastructureFault, Run
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


def takes(seconds, outcome="ok"):
    return Run([], None, outcome, 0.0, "so it was", seconds)


def test_the_time_of_all_cells_together_is_bounded():
    kernels = Kernels(dict.fromkeys("abcd", takes(8)))
    _, runs = run_all(kernels, "abcd", Policy(whole_seconds=20))
    assert [run.outcome for run in runs] == ["ok", "ok", "ok", "timeout"]
    assert "20 s" in runs[-1].says


def test_a_cell_gets_no_more_than_is_left():
    given = []

    def slow(timeout):
        given.append(timeout)
        return takes(15)

    run_all(Kernels({"a": slow, "b": slow}), "ab", Policy(cell_seconds=10, whole_seconds=20))
    assert given == [10, 5]


def test_a_cell_that_trains_may_take_longer_than_others():
    given = []

    class Patient:
        def execute(self, code, timeout):
            given.append(timeout)
            return Run([], None, "ok", 0.0, "")

    session = Session(lambda: nullcontext(Patient()), Policy(cell_seconds=5), patience={1: 4.0})
    for number in range(3):
        session.run(number, "pass")
    assert given == [5, 20, 5]


@pytest.mark.parametrize("seconds", [1, 180, 300, 3_000])
def test_no_process_runs_out_of_cpu_seconds_before_the_submission_does(seconds):
    """A larger --timeout would else be in vain on a slow machine: a kernel's CPU seconds are those of all its cells."""
    assert Policy(whole_seconds=seconds).limits.cpu_seconds > seconds


# -- whose fault it is: cells 0 and 2 are the lab's own, 1 holds an answer, 3 is graded --------------------------------

LAB = {"own": {0, 2}, "theirs": {1}}
HOW = ("timeout", "crash", "memory", "output")


@pytest.mark.parametrize("how", HOW)
def test_a_cell_that_ends_its_kernel_before_any_code_of_the_student_s_is_an_infrastructure_fault(how):
    with pytest.raises(InfrastructureFault, match="no code of the student's had run"):
        run_all(Kernels({"a": how}), "abcd", **LAB)


def test_so_is_an_exception_in_a_cell_of_the_lab_s_before_any_code_of_the_student_s():
    """Such as a package that can't be read just now: else the student would be told that a name isn't defined."""
    with pytest.raises(InfrastructureFault, match=r"raised ValueError: no; no code of the student's had run"):
        run_all(Kernels({"a": "error"}), "abcd", **LAB)
    _, runs = run_all(Kernels({"c": "error"}), "abcd", **LAB)
    assert [run.outcome for run in runs] == ["ok", "ok", "error", "ok"]


def test_a_cell_of_the_lab_s_may_miss_an_answer_that_ended_the_kernel():
    kernels = Kernels({"b": "crash", "c": "error"})
    session, runs = run_all(kernels, "abcd", **LAB)
    assert [run.outcome for run in runs] == ["ok", "crash", "error", "ok"] and len(session.deaths) == 1


def test_so_is_a_graded_cell_where_there_is_no_answer():
    with pytest.raises(InfrastructureFault, match="no code of the student's had run"):
        run_all(Kernels({"d": "crash"}), "abcd", own={0, 1, 2}, theirs=())


@pytest.mark.parametrize("how", HOW)
def test_a_cell_of_the_lab_s_that_fails_without_the_student_s_cells_too_is_an_infrastructure_fault(how):
    kernels = Kernels({"c": how})
    with pytest.raises(InfrastructureFault, match="without the student's cells"):
        run_all(kernels, "abcd", **LAB)
    assert kernels.ran == [["a", "b", "c"], ["a", "c"]]


@pytest.mark.parametrize("how", HOW)
def test_a_cell_of_the_lab_s_that_fails_only_after_the_student_s_cells_is_the_student_s_fault(how):
    outcomes = iter([how, "ok"])
    kernels = Kernels({"c": lambda timeout: next(outcomes)})
    session, runs = run_all(kernels, "abcd", **LAB)
    assert kernels.ran == [["a", "b", "c"], ["a", "c"], ["a", "b", "d"]]
    assert [(death.cell, death.outcome) for death in session.deaths] == [(2, how)]
    assert runs[3].outcome == "ok"


@pytest.mark.parametrize("cell", "bd")
def test_no_other_kernel_is_needed_where_the_student_s_own_code_ends_it(cell):
    kernels = Kernels({cell: "crash"})
    session, _ = run_all(kernels, "abcd", **LAB)
    assert ["a", "c"] not in kernels.ran
    assert [death.outcome for death in session.deaths] == ["crash"]


def test_what_the_student_has_used_up_is_not_taken_from_the_lab_s_own_cells_in_a_new_kernel():
    given = []

    def own(timeout):
        given.append(timeout)
        return takes(1)

    kernels = Kernels({"a": own, "b": takes(15, "timeout")})
    run_all(kernels, "abc", Policy(cell_seconds=10, whole_seconds=20), **LAB)
    assert given == [10, 10]
