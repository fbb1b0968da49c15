"""From evidence to a verdict, in a process in which nothing of the student's ever ran but the compiled kernel.

A kernel is run on the public cases and on those that a secret seed draws, under the sanitizer, and counted; what a
function returned is compared with what it should have. A part counts where the results are right in all of them.
"""

from __future__ import annotations

from helpers import verdicts
from helpers.evidence import NoEvidence, answer_in
from helpers.examine import Evidence, examine
from helpers.exercises import Exercise, exercise
from helpers.probe import RESULTS, parts

PUBLIC_ONLY = "right in the public cases only"
HIDDEN = "It is right in the public cases, and wrong on data or sizes that are not among them."


def answer(request: dict) -> dict:
    """The verdict on one answer: part -> {right, mistake, why}.

    request: `exercise` (a key), `seed` (a whole number, secret; None for the public cases alone) and `evidence` (of
    unknown origin). `why` has words for
    the student, and of the secret cases nothing but that one is wrong. Raises KeyError for an unknown exercise; never
    because of what the evidence holds.
    """
    task = exercise(request["exercise"])
    try:
        tried = task if request["seed"] is None else task.for_marks(request["seed"])
        seen = examine(answer_in(request["evidence"], task), tried)
    except NoEvidence as error:
        return {part: _part(False, "no evidence of an answer", str(error)) for part in parts(task)}
    return verdict(task, seen)


def verdict(task: Exercise, seen: Evidence) -> dict:
    """What was seen of an answer to `task`, part by part."""
    mistake = verdicts.named(seen)
    name = mistake.name if mistake else PUBLIC_ONLY if _drawn_only(task, seen) else None
    found = {RESULTS: _part(True) if seen.right else _part(False, name, _words(task, seen, mistake))}
    spent = {each.label: each for each in seen.budgets}
    for budget in task.budgets:
        if not seen.right:
            found[budget.label] = _part(False, None, "The results come first: the cost of a wrong answer says nothing.")
        elif spent[budget.label].ok:
            found[budget.label] = _part(True, why=str(spent[budget.label]))
        else:
            over = spent[budget.label]
            teach = over.teach if over.over or mistake is None else mistake.teach
            where = f"\nMost of it on {over.where}" if over.over and over.where else ""
            found[budget.label] = _part(False, name, f"{over}. {teach}{where}")
    return found


def _words(task: Exercise, seen: Evidence, mistake) -> str:
    bad = seen.first_wrong
    if not _drawn_only(task, seen):
        return verdicts.message(seen, mistake)
    line = getattr(bad.error, "line", None)
    where = f" The learner's line {line} is where it stopped." if line else ""
    return f"{mistake.teach if mistake else ''} {HIDDEN}{where}".strip()


def _drawn_only(task: Exercise, seen: Evidence) -> bool:
    """Whether a result is wrong, and none of a public case, of which more may be told."""
    bad = seen.first_wrong
    return bad is not None and seen.outcomes.index(bad) >= len(task.cases())


def _part(right: bool, mistake: str | None = None, why: str = "") -> dict:
    return {"right": right, "mistake": mistake, "why": why}
