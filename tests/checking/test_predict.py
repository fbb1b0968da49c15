"""Predictions: kept outside the notebook, shown beside the result, and never in the way."""

import json
import subprocess
import sys

import numpy as np
import pytest

from helpers.checking.learner_state import state_folder
from helpers.checking.predict import WIDGET_VIEW, _kept, answer, predict, reveal


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPBOOK_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """A folder of books, the one called t with answers to predictions."""
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "predictions.toml").write_text('[t-none]\nanswer = 2\nwhy = "Because of {share:.0%}."\n')
    monkeypatch.setattr("helpers.checking.exercise.FOLDER", tmp_path)
    _kept.cache_clear()
    yield
    _kept.cache_clear()


def test_the_answer_and_why_it_is_so_come_from_the_file_of_the_chapter(answers):
    predict("How many?", [1, 2], key="t-none")
    assert repr(reveal("t-none", share=0.5)) == "The answer is 2. Because of 50%."
    assert repr(reveal("t-none", 1, share=0.5)) == "The answer is 1. Because of 50%."


def test_a_question_without_an_answer_says_where_to_write_it(answers):
    with pytest.raises(ValueError, match=r"no answer to 't-more': .*predictions.toml"):
        reveal("t-more")


def test_an_answer_is_kept_in_the_state_folder_and_found_again(state):
    predict("How many?", [4, 8], key="t-kept").commit(8)
    file = state / "predictions" / "t-kept.json"
    assert json.loads(file.read_text()).items() >= {"said": 8, "right": None}.items()
    assert answer("t-kept") == 8
    assert predict("How many?", [4, 8], key="t-kept").answer == 8
    assert repr(reveal("t-kept", 8)).startswith("You said 8: that is it.")
    assert repr(reveal("t-kept", 4)).startswith("You said 8: look again.")


@pytest.mark.filterwarnings("ignore:the answer to")
def test_whether_it_was_right_is_kept_until_another_answer_is_given(state):
    question = predict("How many?", [4, 8], key="t-right")
    file = state / "predictions" / "t-right.json"
    reveal("t-right", np.float32(8))
    assert json.loads(file.read_text()) == {"answer": 8, "right": None}
    question.commit(8)
    reveal("t-right", np.float32(8))
    assert json.loads(file.read_text()).items() >= {"said": 8, "answer": 8, "right": True}.items()
    question.commit(4)
    assert json.loads(file.read_text())["right"] is None
    reveal("t-right", (1, 2))
    assert json.loads(file.read_text()).items() >= {"answer": "(1, 2)", "right": False}.items()


def test_an_answer_that_is_no_longer_an_option_is_forgotten():
    predict("How many?", [4, 8], key="t-old").commit(8)
    assert predict("How many?", [4, 16], key="t-old").answer is None


def test_numbers_may_be_near_when_a_tolerance_says_so():
    question = predict("How much?", key="t-number")
    question.commit(95)
    assert reveal("t-number", 100, tolerance=0.1).close
    assert not reveal("t-number", 100).close
    question.commit(float("nan"))
    assert not reveal("t-number", 100, tolerance=0.1).close


def test_off_keeps_nothing_on_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("WARPBOOK_STATE", "off")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    predict("How many?", [1, 2], key="t-off").commit(1)
    assert state_folder() is None
    assert answer("t-off") is None
    assert list(tmp_path.iterdir()) == []


def test_a_key_of_any_letters_is_a_file_name(state):
    predict("How many?", [1, 2], key="../t: ü?").commit(2)
    assert answer("../t: ü?") == 2
    assert [path.parent for path in state.rglob("*.json")] == [state / "predictions"]


def test_notebooks_that_answer_at_once_lose_nothing(state):
    text = "import sys\nfrom helpers.checking.predict import predict\nfor i in range(40): "
    text += "predict('?', [1, 2], key=f'{sys.argv[1]}-{i}').commit(1)"
    at_once = [subprocess.Popen([sys.executable, "-c", text, name]) for name in ("one", "two", "three")]
    assert [process.wait(timeout=120) for process in at_once] == [0, 0, 0]
    assert all(answer(f"{name}-{i}") == 1 for name in ("one", "two", "three") for i in range(40))
    assert not list(state.rglob("*.tmp"))


@pytest.mark.parametrize("broken", ["", "{", "[1]", "\0"])
def test_a_broken_state_file_stops_no_lesson(state, broken):
    (state / "predictions").mkdir(parents=True)
    (state / "predictions" / "t-broken.json").write_text(broken)
    assert predict("How many?", [1, 2], key="t-broken").answer is None
    predict("How many?", [1, 2], key="t-broken").commit(2)
    assert answer("t-broken") == 2


def test_a_folder_that_cannot_be_written_stops_no_lesson(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WARPBOOK_STATE", str(tmp_path / "file"))
    predict("How many?", [1, 2], key="t-readonly").commit(2)
    assert repr(reveal("t-readonly", 2)).startswith("You said 2")


def test_the_bundle_has_a_live_control_and_a_still_page():
    bundle = predict("How `many`?", ["<a>", "b"], key="t-bundle")._repr_mimebundle_()
    assert bundle[WIDGET_VIEW]["model_id"]
    assert "<code>many</code>" in bundle["text/html"] and "&lt;a&gt;" in bundle["text/html"]
    assert bundle["text/plain"] == "How `many`? [<a> / b]"


def test_choosing_in_the_widget_commits():
    question = predict("How many?", [4, 8], key="t-choose")
    radio = question.widget().children[1]
    radio.value = 8
    assert answer("t-choose") == 8


@pytest.mark.parametrize(("typed", "kept"), [("24", 24), ("1,024", 1024), ("12.5", 12.5), ("many", None)])
def test_typing_a_number_commits_and_other_words_do_not(typed, kept):
    question = predict("How many?", key="t-type")
    question.widget().children[1].value = typed
    assert question.answer == kept


def test_one_option_is_no_question():
    with pytest.raises(ValueError, match="two options"):
        predict("How many?", [1], key="t-one")


def test_wrong_option_is_refused():
    with pytest.raises(ValueError, match="not one of 1, 2"):
        predict("How many?", [1, 2], key="t-refuse").commit(3)


def test_an_answer_that_is_none_of_the_options_warns():
    predict("Which share?", options=["50 %", "56 %"], key="test-share")
    with pytest.warns(UserWarning, match="test-share is '56%', and the options were '50 %', '56 %'"):
        reveal("test-share", "56%")
    predict("How many?", options=[1, 4], key="test-share")
    reveal("test-share", 4.0)
