"""Changes to a program: an interval for the ratio of times, and the rule that says which change stays."""

from __future__ import annotations

import itertools

import pytest

from helpers import ChangeLog, Count, paired
from helpers.results.change_log import Ratio


def test_both_run_in_turns_and_every_other_round_the_other_way_round():
    order = []
    found = paired(lambda: order.append("b") or 2.0, lambda: order.append("a") or 1.0, rounds=5)
    assert "".join(order) == "baabbaabba"
    assert found.quotients == (0.5,) * 5 and found.better and found.verdict == "faster"


def test_one_disturbed_round_on_each_side_decides_nothing():
    seconds = itertools.cycle([1.0, 0.9, 0.8, 1.1, 1.0, 5.0, 1.2, 1.0, 1.0, 0.1, 1.1, 1.0])
    found = paired(lambda: 1.0, lambda: next(seconds), rounds=9)
    assert found.low == found.quotients[1] and found.high == found.quotients[-2] < 5
    assert found.verdict == "within the error" and not found.better


def test_fewer_than_five_rounds_have_no_interval():
    with pytest.raises(ValueError, match="at least 5 rounds"):
        paired(lambda: 1.0, lambda: 1.0, rounds=4)


def test_a_slower_change_is_told_apart_from_one_that_shows_nothing():
    assert Ratio((1.1, 1.2, 1.3, 1.4, 1.5)).verdict == "slower"
    assert "1.30 × the time (1.20 to 1.40): slower" in repr(Ratio((1.1, 1.2, 1.3, 1.4, 1.5)))


def test_the_log_follows_the_rule():
    log = ChangeLog()
    faster, nothing = Ratio((0.4, 0.5, 0.5, 0.5, 0.6)), Ratio((0.9, 0.95, 1.0, 1.05, 1.1))
    assert log.enter("loader", "60 % of a step", faster).endswith("kept")
    assert log.enter("fused", "many operators", nothing).endswith("reverted")
    log.enter("pinned", "copies wait", nothing, reason="needs a GPU")
    log.enter("reads", "3 a step", Count(3, 0, "reads"))
    log.enter("more", "", Count(3, 3, "reads"))
    log.enter("larger batch", "", faster, differs="fewer updates")
    assert [entry.kept for entry in log.entries.values()] == [True, False, True, True, False, False]
    assert "reverted: fewer updates" in repr(log)
    for said in (repr(log), log._repr_html_()):
        assert "kept: needs a GPU" in said and "3 → 0 reads" in said and "counted" in said and "measured" in said


def test_a_change_tried_again_replaces_its_row():
    log = ChangeLog()
    log.enter("fused", "", Count(153, 153, "operators"))
    log.enter("fused", "", Count(153, 2, "operators"))
    assert len(log.entries) == 1 and log.entries["fused"].kept
