"""What evidence says: the misconception behind it, and the words that help, in a notebook and in a terminal."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from helpers.checking import families, fingerprint
from helpers.checking.examine import Evidence, Spent
from helpers.checking.exercise import Exercise, Mistake, plural
from helpers.checking.stream_work import Unordered
from vgpu.base.errors import OutOfBounds, VirtualGPUError
from vgpu.tools.sanitize.findings import Finding

SHOWN_CASES = 3


def named(evidence: Evidence) -> Mistake | None:
    """The mistake that was made: the exercise's own come first, then what any may meet. None where all is well, and
    where only hidden cases show that something is wrong."""
    return None if evidence.passed else fingerprint.told(evidence) or families.told(evidence)


def message(evidence: Evidence, mistake: Mistake | None) -> str:
    """What to tell the learner, in lines."""
    task = evidence.exercise
    if evidence.passed:
        explained = [task.why] if task.of_a_lab else []  # a chapter shows its solution, a lab only tells of it
        return "\n".join([*explained, *([f"To go further: {task.stretch}"] if task.stretch else [])])
    said = [" ".join(filter(None, (mistake.teach, mistake.seen)))] if mistake else []
    general = mistake not in task.mistakes  # an exercise's own words know better what fixes it
    bad = evidence.first_wrong
    stopped = next((each for each in evidence.outcomes if each.error is not None), None)
    if stopped is not None and stopped.error is not None:
        named = "" if isinstance(stopped.error, VirtualGPUError) else f"{type(stopped.error).__name__}: "
        said.append(f"With {stopped.case.name}: {named}{_without_guess(stopped.error)}")
    elif bad is not None and isinstance(bad.got, np.ndarray) and evidence.exercise.thread_of:
        index = tuple(int(i) for i in np.argwhere(bad.wrong)[0])
        block, thread = evidence.exercise.thread_of(index, bad.case)
        said.append(f"That element is the work of thread {_triple(thread)} of block {_triple(block)}.")
    if evidence.findings and not (bad is not None and bad.error is not None):
        first = (mistake.finding if mistake else None) or evidence.findings[0]
        said.append(f"{first.what}" + (f"\nline {first.line}: {first.source.strip()}" if first.line else ""))
        told = first.kind.startswith("race") and first.space == "shared"
        if general and not told:  # families tell it of the whole block, a finding of the two threads that it saw
            said.append(f"Usual fix: {first.fix}")
    over = next((budget for budget in evidence.budgets if budget.over), None)
    if over is not None:
        said += [words for words in cost(over, mistake, task) if words not in said]
    said.append(f'Stuck? check.hint("{evidence.exercise.key}", 1)')
    return "\n".join(said)


def cost(spent: Spent, mistake: Mistake | None, task: Exercise) -> list[str]:
    """What to tell of a budget that isn't kept: the exercise's own mistake if it is one, and the line that costs it."""
    own = mistake if mistake in task.mistakes or not spent.over else None
    return [(own or spent).teach, *([f"Most of it on {spent.where}"] if spent.where else [])]


def failed(cases: Iterable[tuple[str, bool, str]]) -> list[str]:
    """What came out in the first cases that are wrong, of (name, whether it is right, note)."""
    wrong = [f"{name}: {note}" for name, right, note in cases if not right]
    more = len(wrong) - SHOWN_CASES
    return wrong[:SHOWN_CASES] + ([f"and {plural(more, 'case')} more"] if more > 0 else [])


def noted(evidence: Evidence) -> tuple[tuple[str, bool, str], ...]:
    """The cases as `failed` takes them."""
    return tuple((outcome.case.name, outcome.ok, outcome.note()) for outcome in evidence.outcomes)


def _without_guess(error: Exception) -> str:
    """An error's words. What usually fixes an access outside an array, a guard, need not fix this one: the mistake
    that was named says more of it."""
    told, _, _ = str(error).partition("\n  Usual fix: ") if isinstance(error, OutOfBounds) else (str(error), "", "")
    return told


def place_of(finding: Finding | Unordered) -> str:
    """A finding in one phrase: what and on which lines."""
    lines = sorted({line for line in (finding.line, finding.other_line) if line is not None})
    where = f", line{'s' * (len(lines) > 1)} {' and '.join(map(str, lines))}" if lines else ""
    return f"{finding.title}{where}"


def _triple(index: tuple[int, ...]) -> str:
    return str(index[0]) if len(index) == 1 else str(index)
