"""What evidence says: the misconception behind it, and the words that help."""

from __future__ import annotations

import numpy as np

from helpers.checking import families, fingerprint
from helpers.checking import mistakes as known
from helpers.checking.examine import Evidence
from helpers.checking.exercise import Mistake
from helpers.results.sanitize.findings import Finding
from helpers.vgpu.base.errors import CompileError, Deadlock, OutOfBounds, VirtualGPUError


def named(evidence: Evidence) -> Mistake | None:
    """The mistake that was made: the exercise's own come first, then those of all exercises. None where all is well,
    and where only hidden cases show that something is wrong."""
    if evidence.passed:
        return None
    if evidence.exercise.by_example:
        return own(evidence) or families.told(evidence)
    return next((m for m in (*evidence.exercise.mistakes, *ANY_EXERCISE) if m.when(evidence)), None)


def own(evidence: Evidence) -> Mistake | None:
    """The mistake among those of the exercise itself."""
    if evidence.exercise.by_example:
        return fingerprint.told(evidence)
    return next((m for m in evidence.exercise.mistakes if m.when(evidence)), None)


def message(evidence: Evidence, mistake: Mistake | None) -> str:
    """What to tell the learner, in lines."""
    task = evidence.exercise
    if evidence.passed:
        explained = [task.why] if task.of_a_lab else []  # a chapter shows its solution, a lab only tells of it
        return "\n".join([*explained, *([f"To go further: {task.stretch}"] if task.stretch else [])])
    said = [" ".join(filter(None, (mistake.teach, mistake.seen)))] if mistake else []
    general = mistake not in task.mistakes  # an exercise's own words know better what mends it
    bad = evidence.first_wrong
    if bad is not None and bad.error is not None:
        named = "" if isinstance(bad.error, VirtualGPUError) else f"{type(bad.error).__name__}: "
        said.append(f"With {bad.case.name}: {named}{_without_guess(bad.error)}")
    elif bad is not None and isinstance(bad.got, np.ndarray) and evidence.exercise.thread_of:
        index = tuple(int(i) for i in np.argwhere(bad.wrong)[0])
        block, thread = evidence.exercise.thread_of(index, bad.case)
        said.append(f"That element is the work of thread {_triple(thread)} of block {_triple(block)}.")
    if evidence.findings and not (bad is not None and bad.error is not None):
        first = evidence.findings[0]
        said.append(f"{first.what}" + (f"\nline {first.line}: {first.source.strip()}" if first.line else ""))
        told = task.by_example and first.kind in known.RACES and first.space == "shared"
        if general and not told:  # families tell it of the whole block, a finding of the two threads that it saw
            said.append(f"Usual cure: {first.cure}")
    for budget in evidence.budgets:
        if budget.over:
            said += [budget.teach] if general else []
            said += [f"Most of it on {budget.where}"] if budget.where else []
            break
    said.append(f'Stuck? check.hint("{evidence.exercise.key}", 1)')
    return "\n".join(said)


def _without_guess(error: Exception) -> str:
    """An error's words. What usually mends an access outside an array, a guard, need not mend this one: the mistake
    that was named says more of it."""
    told, _, _ = str(error).partition("\n  Usual cure: ") if isinstance(error, OutOfBounds) else (str(error), "", "")
    return told


def place_of(finding: Finding) -> str:
    """A finding in one phrase: what and on which lines."""
    lines = sorted({line for line in (finding.line, finding.other_line) if line is not None})
    where = f", line{'s' * (len(lines) > 1)} {' and '.join(map(str, lines))}" if lines else ""
    return f"{finding.title}{where}"


def _triple(index: tuple[int, ...]) -> str:
    return str(index[0]) if len(index) == 1 else str(index)


def _failed_with(*kinds):
    return lambda evidence: any(isinstance(outcome.error, kinds) for outcome in evidence.outcomes)


ANY_EXERCISE = (
    Mistake("it does not compile", _failed_with(CompileError), "The compiler stopped before any thread ran."),
    Mistake(
        "threads wait at different barriers",
        lambda evidence: known.found(*known.BARRIERS)(evidence) or _failed_with(Deadlock)(evidence),
        "Every thread of a block must come to the same barrier: move it out of the branch.",
    ),
    Mistake(
        "a thread left its array",
        known.out_of_bounds,
        "A launch has whole blocks, so some threads have no element: guard every access with the array's size.",
    ),
    Mistake("it stops with an error", _failed_with(Exception), "The message below says where."),
    Mistake("nothing is written yet", known.nothing_written, "Every output element still holds the bytes 0xFF."),
    Mistake(
        "a race",
        known.found(*known.RACES),
        "Two threads use one element, one of them writes it, and nothing says who comes first.",
    ),
    Mistake(
        "the sanitizer has found a mistake",
        known.found(),
        "Whether or not the result is right this time, the kernel is not.",
    ),
    Mistake(
        "the end is not written",
        known.tail_missing,
        "The last elements are left out: is the launch or loop short?",
    ),
    Mistake(
        "some elements are never written",
        known.untouched_somewhere,
        "Which threads should have written them?",
    ),
    Mistake(
        "few do the work of all",
        lambda e: any(b.alone for b in e.budgets),
        "Right, but one block or warp makes more than half of all requests to memory, while the others have little to "
        "do. A launch takes as long as its busiest part. Give each thread of the grid its share, by blockIdx and "
        "threadIdx.",
    ),
    Mistake(
        "right, but over budget",
        lambda e: any(b.over for b in e.budgets),
        "The result is right; its cost is not.",
    ),
)
"""Mistakes that any exercise knows, tried after its own."""
