"""A run stops where many submissions run out of time in one cell, and nothing that was graded is lost."""

from __future__ import annotations

import pytest

from helpers.grading.alarm import FEWEST, Alarm, withdrawn
from helpers.grading.results import GRADED, REJECTED, STUDENT_FAULT, UNGRADED, Result


def result(student: str, *late: str, state: str = "") -> Result:
    return Result(student, f"{student}.ipynb", "lab", state or (STUDENT_FAULT if late else GRADED), late=late)


def heard(alarm: Alarm, *results: Result) -> list[str]:
    return [alarm.heard(each) for each in results]


def test_it_stops_where_more_than_half_are_late_in_one_cell():
    late = [result(f"late{number}", "train") for number in range(3)]
    assert heard(Alarm(), result("good"), *late) == ["", "", "", "train"]
    assert heard(Alarm(), result("good"), result("better"), result("best"), *late) == [""] * 6


def test_fewer_than_three_never_stop_a_run():
    assert heard(Alarm(), *(result(f"late{number}", "train") for number in range(FEWEST - 1))) == [""] * (FEWEST - 1)


def test_different_cells_are_not_added_up():
    assert heard(Alarm(), result("a", "train"), result("b", "sum"), result("c", "scan")) == [""] * 3


def test_what_was_not_run_does_not_count():
    late = [result(f"late{number}", "train") for number in range(3)]
    others = [result("junk", state=REJECTED), result("later", state=UNGRADED)]
    assert heard(Alarm(), *others, *others, *late)[-1] == "train"


@pytest.mark.parametrize(("good", "warned"), [(3, True), (12, True), (13, False)])
def test_a_fifth_is_worth_a_warning(good, warned):
    alarm = Alarm()
    heard(alarm, *(result(f"good{n}") for n in range(good)), *(result(f"late{n}", "train") for n in range(3)))
    assert bool(alarm.warning()) is warned and ("train" in alarm.warning()) is warned


def test_those_who_were_late_there_are_ungraded_and_no_others():
    results = [result("a", "train"), result("b", "sum"), result("c")]
    (again,) = withdrawn(results, "train")
    assert again.student == "a" and again.state == UNGRADED and "train" in again.reason
