"""What a learner did is kept: a file an entry, whole at any time, whoever else writes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.checking import learner_state
from helpers.checking.check import check
from helpers.checking.exercise import exercise

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPBOOK_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def test_fields_are_added_to_what_is_there():
    learner_state.keep(learner_state.PREDICTIONS, "a", said=1)
    learner_state.keep(learner_state.PREDICTIONS, "a", right=True)
    assert learner_state.entry(learner_state.PREDICTIONS, "a") == {"said": 1, "right": True}
    assert learner_state.entry(learner_state.EXERCISES, "a") == {}


def test_any_key_makes_a_file_inside_the_folder(state):
    learner_state.keep(learner_state.PREDICTIONS, "../a/b", said=1)
    assert learner_state.entry(learner_state.PREDICTIONS, "../a/b") == {"said": 1}
    assert [path.parent for path in state.rglob("*.json")] == [state / "predictions"]


def test_what_json_cannot_say_stops_nothing():
    learner_state.keep(learner_state.PREDICTIONS, "a", said=object())
    assert learner_state.entry(learner_state.PREDICTIONS, "a") == {}


WRITER = """
import sys
from helpers.checking import learner_state as kept
for number in range(60):
    kept.keep(kept.PREDICTIONS, f"{sys.argv[1]}-{number}", said=number)
    kept.keep(kept.PREDICTIONS, "both", said=sys.argv[1])
"""


def test_two_notebooks_that_write_at_once_lose_nothing(state):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, name], env=environment) for name in ("one", "two")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    for name in ("one", "two"):
        for number in range(60):
            assert learner_state.entry(learner_state.PREDICTIONS, f"{name}-{number}") == {"said": number}
    assert learner_state.entry(learner_state.PREDICTIONS, "both")["said"] in ("one", "two")
    assert not list(state.rglob("*.tmp"))


def blocks(n, threads):
    return (n + threads - 1) // threads


def test_a_check_keeps_the_day_it_was_passed_first(state, monkeypatch):
    monkeypatch.setattr(learner_state, "today", lambda: "2026-01-01")
    assert not check(lambda n, threads: 0, "ch02.blocks").passed
    assert learner_state.entry(learner_state.EXERCISES, "ch02.blocks") == {"tried": "2026-01-01"}
    monkeypatch.setattr(learner_state, "today", lambda: "2026-01-02")
    assert check(blocks, "ch02.blocks").passed
    monkeypatch.setattr(learner_state, "today", lambda: "2026-01-03")
    assert check(blocks, "ch02.blocks").passed
    assert not check(lambda n, threads: 0, "ch02.blocks").passed
    assert learner_state.entry(learner_state.EXERCISES, "ch02.blocks") == {
        "tried": "2026-01-03",
        "passed": "2026-01-02",
    }
    assert json.loads((state / "exercises" / "ch02.blocks.json").read_text())["passed"] == "2026-01-02"


def test_an_exercise_that_is_in_no_chapter_leaves_no_trace(state):
    import dataclasses

    assert check(blocks, dataclasses.replace(exercise("ch02.blocks"), key="t.blocks")).passed
    assert not state.exists()
