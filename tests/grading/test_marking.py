"""What becomes of a graded cell's outputs: evidence is found, judged once, and turned into a mark."""

import pytest

from helpers.checking.probe import MIME
from helpers.grading.marking import Marker, NoProbe, evidence_in
from helpers.grading.merged import GRADED, REFERENCE, SOLUTION, PlannedCell
from helpers.grading.regions import STUB
from helpers.grading.sandbox import InfrastructureFault, JobFault, Run
from tests.grading.scripted import shown

RESULTS = PlannedCell(GRADED, "one-results", "lab99.one", "results", 2.0)
BUDGET = PlannedCell(GRADED, "one-sectors", "lab99.one", "sectors", 1.5)
ANSWER = PlannedCell(SOLUTION, "one", "lab99.one", answer="given")
RIGHT = {part: {"right": True, "mistake": None, "why": ""} for part in ("results", "sectors")}
WRONG = {part: {"right": False, "mistake": "no guard", "why": "Guard it."} for part in ("results", "sectors")}


def ran(*outputs, outcome="ok", error=None, says=""):
    return Run(list(outputs), error, outcome, 0.25, says)


def raised(name="NameError", words="name 'one' is not defined"):
    return ran(outcome="error", error={"ename": name, "evalue": words, "traceback": []})


def marked(*ended, judge=lambda key, evidence, open: RIGHT):
    """The marks of cells and what came of them: (cell, run) or (cell, source, run)."""
    marker = Marker(judge, 10_000)
    for cell, *source, run in ended:
        marker.ended(cell, *(source or [""]), run)
    return marker.marks


# -- evidence in outputs --------------------------------------------------------------------------------


def test_the_first_probe_of_the_exercise_and_part_counts():
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "right!"},
        shown("lab99.two", "results", {"kernel": "another exercise"}),
        shown("lab99.one", "sectors", {"kernel": "another part"}),
        shown("lab99.one", "results", {"kernel": "this"}),
        shown("lab99.one", "results", {"kernel": "a second one"}),
    ]
    assert evidence_in(outputs, RESULTS, 1000) == {"kernel": "this"}


@pytest.mark.parametrize(
    "output",
    [
        {"output_type": "display_data", "data": {"text/plain": "lab99.one, results: right"}, "metadata": {}},
        {"output_type": "display_data", "data": "none", "metadata": {}},
        {"output_type": "display_data"},
        {"output_type": "display_data", "data": {MIME: ["lab99.one", "results"]}, "metadata": {}},
        {"output_type": "display_data", "data": {MIME: {"exercise": ["lab99.one"], "part": {}}}, "metadata": {}},
    ],
)
def test_what_is_no_probe_is_passed_over(output):
    with pytest.raises(NoProbe, match="nothing"):
        evidence_in([output], RESULTS, 1000)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_are_finite(number):
    with pytest.raises(NoProbe, match="finite"):
        evidence_in([shown("lab99.one", "results", {"value": [number]})], RESULTS, 1000)


def test_too_long_or_too_deep_is_no_evidence():
    with pytest.raises(NoProbe, match="bytes, and 1,000 are the most"):
        evidence_in([shown("lab99.one", "results", {"ptx": "x" * 1000})], RESULTS, 1000)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(NoProbe):
        evidence_in([shown("lab99.one", "results", {"deep": deep})], RESULTS, 1000)


@pytest.mark.parametrize("evidence", ["text", [1], 3, True])
def test_evidence_is_an_object(evidence):
    with pytest.raises(NoProbe):
        evidence_in([shown("lab99.one", "results", evidence)], RESULTS, 1000)


def test_a_probe_without_evidence_is_none():
    bare = {"data": {MIME: {"exercise": "lab99.one", "part": "results", "right": True}}, "metadata": {}}
    with pytest.raises(NoProbe, match="no evidence"):
        evidence_in([{"output_type": "display_data", **bare}], RESULTS, 1000)


# -- marks ----------------------------------------------------------------------------------------------


def test_a_right_part_earns_its_points():
    (mark,) = marked((RESULTS, ran(shown("lab99.one", "results"))))
    assert (mark.cell, mark.points, mark.out_of, mark.outcome) == ("one-results", 2.0, 2.0, "right")
    assert mark.seconds >= 0.25


def test_a_wrong_part_has_its_mistake_and_words():
    (mark,) = marked((RESULTS, ran(shown("lab99.one", "results"))), judge=lambda key, evidence, open: WRONG)
    assert (mark.points, mark.outcome, mark.mistake, mark.why) == (0.0, "wrong", "no guard", "Guard it.")


def test_one_answer_is_judged_once_for_all_its_parts():
    asked = []
    marked(
        (RESULTS, ran(shown("lab99.one", "results", {"a": 1, "b": 2}))),
        (BUDGET, ran(shown("lab99.one", "sectors", {"b": 2, "a": 1}))),
        judge=lambda key, evidence, open: asked.append(key) or RIGHT,
    )
    assert asked == ["lab99.one"]


def test_the_answer_that_is_shown_first_counts_for_every_part():
    """Two answers, each of them within one budget, are not one within both."""
    asked = []
    marks = marked(
        (RESULTS, ran(shown("lab99.one", "results", {"a": 1}))),
        (BUDGET, ran(shown("lab99.one", "sectors", {"a": 2}))),
        judge=lambda key, evidence, open: asked.append(evidence) or (RIGHT if evidence == {"a": 2} else WRONG),
    )
    assert asked == [{"a": 1}]
    assert [mark.points for mark in marks] == [0.0, 0.0]


@pytest.mark.parametrize("outcome", ["timeout", "crash", "memory"])
def test_what_ends_the_judge_ends_with_no_points_and_is_not_tried_for_each_part(outcome):
    asked = []

    def judge(key, evidence, open):
        asked.append(key)
        raise JobFault(outcome, "in the judge's words, with secret inputs")

    marks = marked(
        (RESULTS, ran(shown("lab99.one", "results"))), (BUDGET, ran(shown("lab99.one", "sectors"))), judge=judge
    )
    assert [(mark.points, mark.outcome) for mark in marks] == [(0.0, outcome)] * 2
    assert not any("secret" in mark.why for mark in marks)
    assert len(asked) == 1


@pytest.mark.parametrize("verdict", [{}, {"results": {"right": "yes"}}, {"results": True}, []])
def test_a_judge_that_says_nothing_is_the_graders_fault(verdict):
    with pytest.raises(InfrastructureFault):
        marked((RESULTS, ran(shown("lab99.one", "results"))), judge=lambda key, evidence, open: verdict)


def test_a_judge_without_a_sandbox_is_the_graders_fault():
    def judge(key, evidence, open):
        raise InfrastructureFault("the sandbox has died")

    with pytest.raises(InfrastructureFault):
        marked((RESULTS, ran(shown("lab99.one", "results"))), judge=judge)


# -- why a graded cell showed nothing -------------------------------------------------------------------


def test_an_untouched_answer_is_missing_whatever_comes_of_it():
    untouched = PlannedCell(SOLUTION, "one", "lab99.one", answer="unchanged")
    (mark,) = marked((untouched, STUB, ran()), (RESULTS, raised()))
    assert mark.outcome == "missing"
    (mark,) = marked(
        (untouched, STUB, ran()), (RESULTS, ran(shown("lab99.one", "results"))), judge=lambda key, evidence, open: WRONG
    )
    assert mark.outcome == "missing"


def test_an_answer_that_was_put_into_another_cell_counts():
    untouched = PlannedCell(SOLUTION, "one", "lab99.one", answer="unchanged")
    (mark,) = marked((untouched, STUB, ran()), (RESULTS, ran(shown("lab99.one", "results"))))
    assert mark.outcome == "right"


def test_where_the_answers_cell_failed_that_is_told():
    error = raised("SyntaxError", "invalid syntax (line 3)\nand more")
    (mark,) = marked((ANSWER, error), (RESULTS, raised()))
    assert (mark.outcome, mark.why) == (
        "error",
        "The cell of the answer stopped with SyntaxError: invalid syntax (line 3)",
    )
    (mark,) = marked((ANSWER, ran(outcome="timeout", says="it ran for 20 s")), (RESULTS, raised()))
    assert (mark.outcome, mark.why) == ("timeout", "In the answer: It ran for 20 s.")


def test_the_number_by_which_jupyter_calls_a_cell_is_not_told():
    error = raised("SyntaxError", "invalid syntax (3197690673.py, line 6)")
    (mark,) = marked((ANSWER, error), (RESULTS, raised()))
    assert mark.why == "The cell of the answer stopped with SyntaxError: invalid syntax (line 6 of the cell)"


@pytest.mark.parametrize(("name", "told"), [("one", True), ("of_the_hidden_case", False), ("on", False)])
def test_a_name_that_the_lab_asks_for_and_nobody_gave_is_told(name, told):
    source = 'seen = probe(one, "lab99.one", "results")'
    (mark,) = marked((ANSWER, ran()), (RESULTS, source, raised("NameError", f"name '{name}' is not defined")))
    assert (f"Nothing is called {name}" in mark.why) == told
    assert told or f"'{name}'" not in mark.why


def test_words_of_an_exception_in_a_graded_cell_are_kept_back():
    """They may hold what the answer was tried on."""
    (mark,) = marked((ANSWER, ran()), (RESULTS, raised("ValueError", "inputs were [3, 1, 4]")))
    assert mark.outcome == "error"
    assert "ValueError" in mark.why and "3, 1, 4" not in mark.why


CHOSEN = {
    "an exception in the graded cell": lambda n: [(ANSWER, ran()), (RESULTS, raised(("OSError", "KeyError")[n], ""))],
    "a name that is missing": lambda n: [
        (ANSWER, ran()),
        (RESULTS, 'probe(one, "two")', raised("NameError", f"name '{('one', 'two')[n]}' is not defined")),
    ],
    "an exception in the answer": lambda n: [(ANSWER, raised(("OSError", "KeyError")[n], "")), (RESULTS, raised())],
    "an exit status": lambda n: [(RESULTS, ran(outcome="crash", says=f"the process ended, with exit status {n}"))],
    "an exit status in the answer": lambda n: [
        (ANSWER, ran(outcome="crash", says=f"the process ended, with exit status {n}")), (RESULTS, raised())
    ],
    "a number of bytes": lambda n: [(RESULTS, ran(shown("lab99.one", "results", {"x": "x" * (10_000 + n)})))],
}  # fmt: skip


@pytest.mark.parametrize("ended", CHOSEN.values(), ids=CHOSEN)
def test_after_hidden_inputs_feedback_has_nothing_that_an_answer_can_choose(ended):
    marks = []
    for choice in range(2):
        marker = Marker(lambda *asked: RIGHT, 10_000, {"lab99.one"})
        marker.ended(RESULTS, "", ran(shown("lab99.one", "results")))  # here the inputs are handed out
        for cell, *source, run in ended(choice):
            marker.ended(cell, *(source or [""]), run)
        marks.append(marker.marks[-1])
    assert marks[0] == marks[1]
    assert marks[0].points == 0


def test_a_cell_of_the_lab_that_was_stopped_is_named_rather_than_a_name_that_it_defines():
    imports = PlannedCell(REFERENCE, "imports")
    source = 'probe(one, "lab99.one", "results")'
    stopped = ran(outcome="timeout", says="it had not ended after 20 seconds")
    both = (imports, stopped), (PlannedCell(REFERENCE, "later"), stopped)
    (mark,) = marked(*both, (ANSWER, ran()), (RESULTS, source, raised("NameError", "name 'probe' is not defined")))
    assert "imports" in mark.why and "later" not in mark.why and "probe" not in mark.why


def test_words_have_an_end():
    (mark,) = marked((ANSWER, raised("ValueError", "x" * 999)), (RESULTS, raised()))
    assert mark.why.count("x") == 300
    verdict = {"results": WRONG["results"] | {"why": "x" * 9_999}}
    (mark,) = marked((RESULTS, ran(shown("lab99.one", "results"))), judge=lambda key, evidence, open: verdict)
    assert len(mark.why) == 4_000


@pytest.mark.parametrize("name", ["<b>bold</b>", "x" * 500, ""])
def test_a_name_that_is_no_name_is_not_repeated(name):
    (mark,) = marked((RESULTS, raised(name)))
    assert "an exception" in mark.why


@pytest.mark.parametrize("outcome", ["timeout", "crash", "memory", "output"])
def test_a_fault_in_the_graded_cell_is_its_outcome(outcome):
    (mark,) = marked((RESULTS, ran(shown("lab99.one", "results"), outcome=outcome, says="so it was")))
    assert (mark.points, mark.outcome, mark.why) == (0.0, outcome, "So it was.")
