"""Every exercise: its folder itself is the test.

The solution passes; each way of each mistake is told its own name, by a fingerprint that is kept and current; no two
names share one. What rules make of the solution fails too, and is told something.
"""

from __future__ import annotations

import json
import resource
import signal
from functools import wraps
from pathlib import Path

import pytest

from helpers.checking import fingerprint
from helpers.checking.check import check, hint
from helpers.checking.examine import examine
from helpers.checking.exercise import BOOKS, FOLDER, Exercise, exercise, exercises
from helpers.checking.exercise_files import SHEET, Folder
from helpers.checking.mutants import mutants
from helpers.checking.probe import parts
from helpers.checking.renew import as_text, computed
from helpers.checking.solutions import built, patched, solution_of

ROOT = Path(__file__).resolve().parents[2]
KEYS = list(exercises())
LONGEST = 145
"""Lines of a `cases.py`."""
every_exercise = pytest.mark.parametrize("key", KEYS)


def folder_of(key: str) -> Path:
    return FOLDER / key.replace(".", "/")


def files_of(key: str) -> list[Path]:
    return sorted(path for path in folder_of(key).rglob("*") if path.suffix in (".toml", ".py", ".cu"))


@every_exercise
def test_the_solution_passes(key):
    report = check(built(exercise(key), solution_of(exercise(key))), key)
    assert report.passed, repr(report)


@pytest.mark.parametrize("key", [pytest.param(key, marks=pytest.mark.rotating(*files_of(key))) for key in KEYS])
def test_every_way_is_wrong_and_told_its_own_name(key):
    """One test of all, as what each way does is computed for it, which takes long."""
    found, kept = computed(exercise(key)), fingerprint.kept(exercise(key))
    renew = f"python -m helpers.checking.renew {key} writes what is current"
    assert list(found) == list(kept) == [mistake.name for mistake in exercise(key).mistakes], renew
    for name, prints in kept.items():
        assert all(any(fingerprint.same(known, each) for each in found[name]) for known in prints), renew
    for name, each in ((name, each) for name, prints in found.items() for each in prints):
        told = [other for other, known in kept.items() if any(fingerprint.same(one, each) for one in known)]
        assert told == [name], renew
        wrong = [case for case in each.get("cases", ()) if case != fingerprint.RIGHT]
        assert wrong or each.keys() & {"found", "over", "alone"}, f"{name}: a way is right"


@pytest.mark.parametrize("book", BOOKS)
def test_what_is_kept_is_as_renew_writes_it(book):
    path = FOLDER / book / fingerprint.KEPT
    table = {key.split(".")[1]: fingerprint.kept(exercise(key)) for key in KEYS if key.startswith(f"{book}.")}
    assert path.read_text(encoding="utf-8") == as_text(table)


@every_exercise
def test_it_teaches(key):
    task = exercise(key)
    assert 4 <= len(task.mistakes) <= 8 and all(mistake.ways for mistake in task.mistakes)
    assert len({hint(key, stage).text for stage in (1, 2, 3)}) == 3
    assert len(task.why) > (200 if task.of_a_lab else 80) and task.stretch
    assert bool(task.solution) is not task.of_a_lab
    assert len(set(parts(task))) == len(parts(task))
    assert [mistake.name for mistake in task.mistakes if len(mistake.teach) <= 40] == []
    assert "TODO" not in (folder_of(key) / SHEET).read_text(encoding="utf-8")


@pytest.mark.parametrize("book", BOOKS)
def test_every_exercise_of_a_book_is_in_its_order(book):
    assert sorted(f"{book}.{path.parent.name}" for path in (FOLDER / book).glob(f"*/{SHEET}")) == sorted(
        key for key in KEYS if key.startswith(f"{book}.")
    )


@every_exercise
def test_every_file_of_an_exercise_is_used_and_its_cases_are_short(key):
    sheet = Folder(folder_of(key)).sheet
    ways = {"wrong": [way for each in sheet.mistakes for way in each.ways], "right": [each.way for each in sheet.right]}
    named = {f"{folder}/{way}" for folder, found in ways.items() for way in found if isinstance(way, str)}
    alone = {SHEET, "cases.py", *([] if exercise(key).of_a_lab else [f"solution{sheet.suffix}"])}
    assert {path.relative_to(folder_of(key)).as_posix() for path in files_of(key)} == named | alone
    assert len((folder_of(key) / "cases.py").read_text(encoding="utf-8").splitlines()) <= LONGEST


# --- mutants by rule --------------------------------------------------------------------------------------------------


MOST_BYTES = 2 << 30


def ending(answer):
    """A function that stops with an error after two seconds of CPU time, or when it has taken 2 GiB: a mutant of a loop
    may go on for ever."""

    def stop(*_):
        raise TimeoutError("the function does not end")

    @wraps(answer)
    def limited(*given):
        before = signal.signal(signal.SIGPROF, stop)
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MOST_BYTES, hard))
        signal.setitimer(signal.ITIMER_PROF, 2)
        try:
            return answer(*given)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))

    return limited


MUTANTS = 4
"""How many of an exercise's mutants a tier below `all` tries."""


def wrong_mutants(key: str, some) -> list[str]:
    """What is to be said of the mutants of an exercise: those that pass, and those of which nothing is told."""
    task, bad = exercise(key), []
    for mutant in some(mutants(task), MUTANTS):
        answer = built(task, mutant.text)
        report = check(ending(answer) if task.asks_for_a_function else answer, task)
        if report.passed and not (task.of_a_lab and _wrong_elsewhere(task, mutant.text)):
            bad.append(f"{json.dumps(mutant.change)} passes: add a case that it fails, or add it to [[equivalent]]")
        elif not report.passed and not (report.mistake and report.message):
            bad.append(f"{json.dumps(mutant.change)} fails, and nothing is said about it: add a [[mistakes]] row")
    return bad


def _wrong_elsewhere(task: Exercise, text: str) -> bool:
    """Whether hidden cases find out what the public ones do not."""
    return not examine(built(task, text), task.for_marks(20261)).passed


each_in_turn = pytest.mark.parametrize(
    "key", [pytest.param(key, marks=pytest.mark.rotating(*files_of(key))) for key in KEYS]
)


@each_in_turn
def test_what_a_rule_makes_of_the_solution_fails_and_is_told_something(key, some):
    if bad := wrong_mutants(key, some):
        pytest.fail("\n".join(bad), pytrace=False)


@each_in_turn
def test_what_is_called_equivalent_is_a_mutant_and_passes(key):
    task = exercise(key)
    for change, why in task.equivalent:
        assert why
        assert check(built(task, patched(task, change)), key).passed, change
