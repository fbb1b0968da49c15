"""A class with hostile students in it is graded: nobody earns what is not theirs, nobody loses what is.

A case for each wall, and all cases in the tier `all`. `python -m tests.hostile` runs all, too, and with `--write`
renews TABLE.md.
"""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from helpers.checking.exercise import exercises
from helpers.grading.policy import Policy
from helpers.grading.results import REJECTED, UNGRADED
from helpers.grading.sandbox import SandboxUnavailable, best
from tests.hostile.__main__ import PATH, cell
from tests.hostile.attack import FOR_FEW, FOR_MANY, SIGN, SLACK_SECONDS, Attack
from tests.hostile.cases import attacks, one_for_each_wall, spies
from tests.hostile.lab import TOTAL

try:
    best()
except SandboxUnavailable as reason:
    if os.environ.get("CI"):
        raise
    pytest.skip(f"hostile submissions are run in a sandbox only. {reason}", allow_module_level=True)

pytestmark = pytest.mark.slow
ALL = attacks()
ATTACKS = one_for_each_wall() | ALL


def marks(book: str) -> list:
    return [pytest.mark.exhaustive, pytest.mark.alone] if book in ALL else []


CASES = [
    pytest.param(book, case, id=f"{book}-{case.name}", marks=marks(book))
    for book, made in ATTACKS.items()
    for case in made.cases
]


@pytest.fixture(scope="module", params=[pytest.param(book, marks=marks(book)) for book in ATTACKS])
def attack(request, tmp_path_factory) -> Attack:
    return graded(request.param, tmp_path_factory)


_graded: dict[str, Attack] = {}


def graded(book: str, tmp_path_factory) -> Attack:
    """The attack on a lab; it is run once."""
    if book not in _graded:
        planned, means = ATTACKS[book], FOR_MANY if book in ALL else FOR_FEW
        _graded[book] = Attack(planned.book, planned.cases, tmp_path_factory.mktemp(book), means)
    return _graded[book]


NO_PROGRAMS = ("honest-syntax", "honest-typo-elsewhere")


def test_what_is_handed_in_is_a_program():
    """A case with a slip in it would earn nothing for the wrong reason."""
    for _, case in (param.values for param in CASES):
        for source in (*case.answers.values(), *(source for _, source in case.own)):
            if case.name not in NO_PROGRAMS:
                compile(TransformerManager().transform_cell(source), case.name, "exec")


def test_the_table_has_every_case():
    """`python -m tests.hostile --write` renews it."""
    table = PATH.read_text(encoding="utf-8")
    assert not [case.name for _, case in (param.values for param in CASES) if f"| {cell(case.name)} |" not in table]


@pytest.mark.parametrize("name", ["spy-rows", "spy-rows-table", "spy-objects", "spy-own-memory"])
def test_spies_find_what_is_not_hidden(name):
    """This process has the rows of labs in its memory, unlike a student's."""
    dict(exercises())
    case = next(case for case in spies.CASES if case.name == name)
    names = {"cp": SimpleNamespace(RawKernel=lambda source, name: source)}
    exec(case.answers[TOTAL], names)
    assert names["found"]


@pytest.mark.parametrize(("book", "case"), CASES)
def test_nobody_has_points_that_are_not_theirs_or_loses_any_that_are(book, case, tmp_path_factory):
    assert graded(book, tmp_path_factory).complaints(case) == []


def test_bystanders_who_are_right_have_all_points(attack):
    beside = [result for student, result in attack.graded.results.items() if student.endswith(f"{SIGN}-right")]
    assert beside and all(result.points == result.out_of for result in beside)


@pytest.mark.exhaustive
def test_bystanders_have_what_they_have_without_the_others(attack):
    beside = {student: result for student, result in attack.graded.results.items() if SIGN in student}
    assert beside
    for student, result in beside.items():
        kind = student.rpartition("-")[2]
        alone = attack.alone[kind]
        assert (result.state, result.marks, result.reason, result.tier, result.key) == (
            alone.state, alone.marks, alone.reason, alone.tier, alone.key,
        ), student  # fmt: skip


def test_everybody_is_graded_or_told_why_not(attack):
    assert not [result.student for result in attack.graded.results.values() if result.state == UNGRADED]
    assert attack.graded.status == 0, attack.graded.complained


def test_nothing_is_left_behind(attack):
    assert attack.graded.left == ()
    assert attack.graded.remains == ()


def test_no_terminal_is_told_what_to_do(attack):
    """What students are called and say may hold signs that a terminal obeys."""
    assert not {sign for sign in attack.graded.printed if ord(sign) < 32} - {"\n"}
    assert not {"\u202e", "\x7f", "\x9b"} & set(attack.graded.printed)


def test_nobody_keeps_the_grader_longer_than_they_may(attack):
    for case in attack.cases:
        result = attack.graded.results.get(case.name)
        if result is not None and result.state != REJECTED:
            assert max((mark.seconds for mark in result.marks), default=0) <= attack.means.most_seconds, case.name
            assert result.seconds <= Policy().whole_seconds + SLACK_SECONDS, case.name
