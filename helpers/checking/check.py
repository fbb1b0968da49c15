"""Instant feedback on an exercise: run it on awkward shapes, count what it cost, name the misconception.

It is for learning, so nothing here raises on a wrong answer: `check` returns a `Report` that says not yet.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from helpers.checking import fingerprint, learner_state
from helpers.checking.examine import examine, watched
from helpers.checking.exercise import Exercise, exercise, exercises
from helpers.checking.predict import prose
from helpers.checking.verdicts import SHOWN_CASES, failed, message, named, noted, place_of
from vgpu.standins.calls import in_place_of_a_kernel, is_numba

_CARD = "padding:6px 12px;max-width:760px;background:rgba(127,127,127,.09);border-radius:0 6px 6px 0"
_SAID = "margin-top:4px;white-space:pre-wrap"
_QUOTES = re.compile(r"\bline \d+: |^Stuck\? ")


@dataclass(frozen=True)
class Report:
    """What `check` says of an answer."""

    key: str
    title: str
    passed: bool
    cases: tuple[tuple[str, bool, str], ...]
    budgets: tuple[tuple[str, bool], ...]
    mistake: str | None
    message: str
    findings: tuple[str, ...] | None = None  # what the sanitizer says; None where it was not asked
    finder: str = "sanitizer"

    @property
    def verdict(self) -> str:
        """One line."""
        if self.passed:
            budget = ", within budget" if self.budgets else ""
            clean = f", and the {self.finder} finds nothing" if self.findings is not None else ""
            return f"✓ {self.title}: right in every case{budget}{clean}."
        return f"✗ {self.title}: not yet" + (f" — {self.mistake}." if self.mistake else ".")

    def _rows(self) -> list[tuple[bool, str]]:
        wrong = [(False, text) for text in failed(self.cases)]
        right = sum(ok for _, ok, _ in self.cases)
        rows = [(True, f"right in {right} of {len(self.cases)} cases")] if right and wrong else []
        watched = [(False, f"{self.finder}: {text}") for text in (self.findings or ())[:SHOWN_CASES]]
        return rows + wrong + watched + [(ok, text) for text, ok in self.budgets]

    def __repr__(self) -> str:
        rows = [f"  {'✓' if ok else '✗'} {text}" for ok, text in self._rows()]
        words = [f"  {line}" for line in self.message.splitlines()]
        return "\n".join([self.verdict, *rows, *words])

    def _repr_html_(self) -> str:
        colour = "#009e73" if self.passed else "#d55e00"
        rows = "".join(f"<li>{'✓' if ok else '✗'} {prose(text)}</li>" for ok, text in self._rows())
        lines = f'<ul style="list-style:none;margin:4px 0;padding-left:8px">{rows}</ul>' if rows else ""
        return (
            f'<div role="status" style="{_CARD};border-left:4px solid {colour}">'
            f"<b>{html.escape(self.verdict)}</b>{lines}"
            + "".join(f'<div style="{_SAID}">{_line(text)}</div>' for text in self.message.splitlines())
            + "</div>"
        )


def _line(text: str) -> str:
    """A line of a message as HTML: a line of source that it quotes, and the call that it asks for, stand as code."""
    words, _, code = text.partition(found[0]) if (found := _QUOTES.search(text)) else (text, "", "")
    return prose(words) + (f"{html.escape(found[0])}<code>{html.escape(code)}</code>" if found else "")


def check(answer: object, key: str | Exercise) -> Report:
    """Check a kernel, or a function, against the exercise called `key`.

    Runs every case on fresh memory, compares with NumPy, watches it with the sanitizer where the exercise says so or
    where a result is wrong and no known mistake explains it, then counts on a larger one; does not count when a result
    is wrong (`examine`). `learner_state` keeps the day of the first pass. Returns a `Report`; raises KeyError
    when there is no such exercise, and never because the answer is wrong.
    """
    task = exercise(key)
    if (words := _nothing_to_run(answer, task)) is not None:
        return Report(task.key, task.title, False, (), (), "nothing to run", words)
    evidence = examine(answer, task)
    if task is exercises().get(task.key):  # and not one that somebody tries out
        today = learner_state.today()
        before = learner_state.entry(learner_state.EXERCISES, task.key).get("passed")
        learner_state.keep(
            learner_state.EXERCISES, task.key, tried=today, **({"passed": before or today} if evidence.passed else {})
        )
    mistake = fingerprint.told(evidence)
    if mistake is None:
        evidence = watched(answer, evidence)
        mistake = named(evidence)
    return Report(
        task.key,
        task.title,
        evidence.passed,
        noted(evidence),
        tuple((str(budget), budget.ok) for budget in evidence.budgets),
        mistake.name if mistake else None,
        message(evidence, mistake),
        tuple(map(place_of, evidence.findings)) if task.sanitize or evidence.findings else None,
        "recording" if task.language == "streams" else "sanitizer",
    )


def _nothing_to_run(answer: object, task: Exercise) -> str | None:
    """Words for an answer of another sort than the exercise asks for; None where it can be run."""
    wanted = "kernel" if task.asks_for_a_kernel else "function"
    if task.asks_for_a_kernel and (words := in_place_of_a_kernel(answer)) is not None:
        return f"check wants a kernel, {task.name}, and {words}."
    if not task.asks_for_a_kernel and (is_numba(answer) or hasattr(answer, "prepare")):
        return f"check wants a plain function, {task.name}, and this is a kernel: write its def without a decorator."
    return None if callable(answer) else f"check wants the {wanted} itself: {task.name}. It was given {answer!r}."


@dataclass(frozen=True)
class Hint:
    """One stage of help."""

    key: str
    stage: int
    text: str

    def __repr__(self) -> str:
        return f"Hint {self.stage} of 3: {self.text}"

    def _repr_html_(self) -> str:
        return (
            f'<div style="{_CARD};border-left:4px solid #56b4e9"><b>Hint {self.stage} of 3</b>'
            f'<div style="{_SAID}">{prose(self.text)}</div></div>'
        )


def hint(key: str | Exercise, stage: int = 1) -> Hint:
    """One of three hints: 1 nudges, 2 names the idea, 3 nearly gives it away."""
    task = exercise(key)
    if stage not in (1, 2, 3):
        raise ValueError(f"an exercise has hints 1, 2 and 3, not {stage}")
    return Hint(task.key, stage, task.hints[stage - 1])


@dataclass(frozen=True)
class Solution:
    """One good answer and why it is one."""

    key: str
    source: str
    why: str

    def __repr__(self) -> str:
        return f"{self.source.strip()}\n\n{self.why}"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.source.strip())}</pre><p>{prose(self.why)}</p>"


def solution(key: str | Exercise) -> Solution:
    """A solution with its explanation: best asked for after an attempt. LookupError for a lab's, which is not here."""
    task = exercise(key)
    if task.of_a_lab:
        raise LookupError(
            f"{task.key} is an exercise of a lab: check explains it once you have passed. Until then there are three "
            f'hints: check.hint("{task.key}", 1). Whoever teaches has the solution, in the source of the lab.'
        )
    return Solution(task.key, task.solution, task.why)


check.hint, check.solution = hint, solution  # type: ignore[attr-defined]  # what learners write: check.hint(key, 1)
