"""From evidence to a verdict: the judge makes the cases, holds what is expected, compares, and decides.

No code of a student is ever in this process. Kernels and stream work run elsewhere, on the inputs of one launch or one
case at a time (see `runner`), on the public cases and on those that a secret seed draws, and counted; what a function
returned is compared with what it should have. A part counts where the results are right in all of them. Where a kernel
is wrong in some of them, and right in the launches that are measured, half of the points for results count, and so do
its costs there: a missing guard is one mistake, and costs no more than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from helpers.checking import fingerprint, verdicts
from helpers.checking.evidence import NoEvidence, Programs, answer_in
from helpers.checking.examine import Evidence, Spent, examine
from helpers.checking.exercise import Exercise, Mistake, exercise
from helpers.checking.kernel_as_json import Portable
from helpers.checking.probe import RESULTS, parts
from helpers.checking.trial import Here, Runs
from helpers.grading.elsewhere import Ask, elsewhere, replays

PARTLY = 0.5
PARTLY_RIGHT = "Half of the points: the measured launches are right, another case isn't."
PUBLIC_ONLY = "right in the public cases only"
HIDDEN = "It is right in the public cases, and wrong on data or sizes that are not among them."
NOTHING_TO_JUDGE = "What the graded cell recorded has no answer that can be judged."
MORE = "`warpbook check` shows the public cases."


def answer(request: dict, ask: Ask | None = None) -> dict:
    """The verdict on one answer: part -> {right, mistake, why}, and `share` of the points where it is partly right.

    request: `exercise` (a key), `seed` (a whole number, secret; None for the public cases alone), `evidence` (of
    unknown origin), and `open`: whether its author's process had no hidden inputs, of any exercise, before it was made.
    `ask` runs kernels elsewhere; without it they run here, as on a learner's own machine. `why` has words for the
    student. Of hidden cases they say nothing but that one is wrong; and where the evidence may hold something of hidden
    inputs, they have nothing of the evidence. Raises KeyError for an unknown exercise; never because of what the
    evidence holds.
    """
    task = exercise(request["exercise"])

    def runs(kernel: Any) -> Runs | Sequence[Runs]:
        if ask is not None and isinstance(kernel, list):
            return elsewhere(kernel, task, ask)
        if ask is not None and isinstance(kernel, Portable):
            return elsewhere([kernel], task, ask)[0]
        return [Here(each) for each in kernel] if isinstance(kernel, list) else Here(kernel)

    try:
        tried = task if request["seed"] is None else task.for_marks(request["seed"])
        given = answer_in(request["evidence"], task)
        if ask is not None and isinstance(given, Programs):
            given.replayed = replays(ask)
        seen = examine(given, tried, runs, partly=True)
    except NoEvidence as error:
        why = str(error) if request.get("open", True) else NOTHING_TO_JUDGE
        return {part: _part(False, "no evidence of an answer", why) for part in parts(task)}
    return verdict(task, seen, bool(request.get("open", True)))


def verdict(task: Exercise, seen: Evidence, open: bool = True) -> dict:
    """What was seen of an answer to `task`, part by part."""
    mistake = verdicts.named(seen)
    name = mistake.name if mistake else PUBLIC_ONLY if _hidden(seen) else None
    found = {RESULTS: _part(True) if seen.right else _part(False, name, _words(seen, mistake, open))}
    if seen.partly:
        found[RESULTS]["share"] = PARTLY
        found[RESULTS]["why"] = f"{PARTLY_RIGHT}\n{found[RESULTS]['why']}"
        mistake = name = None  # of the results, and not of what they cost
    spent = {each.label: each for each in seen.budgets or seen.partly}
    for budget in task.budgets:
        if not spent:
            found[budget.label] = _part(
                False, None, "Get the results right first: the cost of a wrong answer says nothing."
            )
            continue
        each = spent[budget.label]
        words, *where = verdicts.cost(each, mistake, task)
        why = _cost(each, open) if each.ok else f"{_cost(each, open)}. {words}"
        if not each.ok and open and not each.hidden:
            why = "\n".join([why, *where])
        found[budget.label] = _part(each.ok, None if each.ok else name, why)
    return found


def _cost(spent: Spent, open: bool) -> str:
    """What a budget came to; of a hidden launch no number that its inputs or its author chose."""
    if open and not spent.hidden:
        return str(spent)
    if spent.ok:
        return f"{spent.label}: within the limit (at most {spent.at_most:g})"
    where = " in a case that is not public" if spent.hidden else ""
    how = "does not count" if spent.alone and not spent.over else f"over the limit (at most {spent.at_most:g})"
    return f"{spent.label}: {how}{where}"


def _words(seen: Evidence, mistake: Mistake | None, open: bool) -> str:
    teach = mistake.teach if mistake else ""
    if _hidden(seen):
        return f"{teach} {HIDDEN}".strip()
    if open:
        return "\n".join([verdicts.message(seen, mistake), *verdicts.failed(verdicts.noted(fingerprint.public(seen)))])
    return f"{teach} {MORE}".strip()  # which public case is wrong may have been chosen by a hidden input


def _hidden(seen: Evidence) -> bool:
    """Whether something is wrong, and not in a public case, of which more may be told."""
    bad = seen.first_wrong
    case = bad.case if bad is not None else seen.watched
    return case is not None and case.hidden


def _part(right: bool, mistake: str | None = None, why: str = "") -> dict:
    return {"right": right, "mistake": mistake, "why": why}
