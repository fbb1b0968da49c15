"""Try an answer to an exercise: every case on fresh memory, under the sanitizer where asked, then what it costs.

What was seen is `Evidence`: no words, no verdict. `verdicts` names the mistake in it, `check` and the grader report.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from helpers.calls import launch
from helpers.exercises import Budget, Case, Exercise, Out, alike, stream_claims, stream_work
from helpers.mirror import twin
from helpers.vgpu.counters import Footprint
from helpers.vgpu.dependencies import ChainTooLong
from helpers.vgpu.errors import CompileError, KernelTimeout
from helpers.vgpu.launch import counting
from helpers.vgpu.sanitize.findings import Finding

if TYPE_CHECKING:
    from helpers.profile import Profile
    from helpers.streams import Timeline

POISON = 0xFF
SECTOR = 32
LONGEST_WATCH = 20  # seconds that the sanitizer may take for one case
_ALL_WHOLE = 2.0**53  # every float from here on is a whole number, mostly with digits that nobody calculated


class Unaccounted(Exception):
    """A right result that comes with a recording of other work, or of none."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one case gave: the first output (or the value returned), which elements no thread wrote, any
    error; of stream work also its recording."""

    case: Case
    got: object = None
    untouched: np.ndarray | None = None
    wrong: np.ndarray | None = None
    error: Exception | None = None
    timeline: Timeline | None = None

    @property
    def ok(self) -> bool:
        return self.error is None and not self.wrong.any()

    @property
    def only_untouched(self) -> bool:
        """Every wrong element is one that no thread wrote."""
        return self.wrong is not None and not (self.wrong & ~self.untouched).any()

    def note(self) -> str:
        """One phrase on what happened."""
        if self.error is not None:
            return f"stopped, {type(self.error).__name__}"
        if self.ok:
            return "right"
        if not any(isinstance(argument, Out) for argument in self.case.arguments):  # it returns, and writes nothing
            return "returned {}, should be {}".format(*_told_apart(self.got, self.case.expected))
        index = tuple(int(i) for i in np.argwhere(self.wrong)[0])
        place = index[0] if len(index) == 1 else index
        was, wanted = _told_apart(self.got[index], self.case.out.expected[index])
        was = "never written" if self.untouched[index] else was
        count = f"{int(self.wrong.sum()):,} of {self.wrong.size:,} wrong"
        return f"{count}; element {place} is {was}, should be {wanted}"


@dataclass(frozen=True)
class Spent:
    """One budget and what the kernel spent of it, which does not count where `alone`, a block or warp, did most."""

    label: str
    value: float
    at_most: float
    teach: str = field(repr=False)
    where: str = field(default="", repr=False)
    alone: str = field(default="", repr=False)

    @property
    def over(self) -> bool:
        return not self.value <= self.at_most

    @property
    def ok(self) -> bool:
        return not self.over and not self.alone

    def __str__(self) -> str:
        if self.alone and not self.over:
            return f"{self.label}: does not count, as {self.alone} does most of the work"
        value, most = (f"{n:,.0f}" if n >= 1000 else f"{n:.4g}" for n in (self.value, self.at_most))
        return f"{self.label}: {value} (at most {most})"


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that was seen of an answer. `budgets` is empty where a result is wrong: the cost of that says nothing."""

    exercise: Exercise
    outcomes: tuple[Outcome, ...]
    budgets: tuple[Spent, ...] = ()
    findings: tuple[Finding, ...] = ()
    hints: tuple[Finding, ...] = ()

    @property
    def right(self) -> bool:
        """Right in every case, and the sanitizer has found nothing."""
        return all(outcome.ok for outcome in self.outcomes) and not self.findings

    @property
    def passed(self) -> bool:
        """Right, and within every budget."""
        return self.right and all(budget.ok for budget in self.budgets)

    @property
    def first_wrong(self) -> Outcome | None:
        return next((outcome for outcome in self.outcomes if not outcome.ok), None)


def examine(answer, task: Exercise) -> Evidence:
    """Run every case of `task`, watch those that ran to their end, and count on the larger one if all is right.

    Results and counters both come from the virtual GPU, on a machine with a GPU too: it catches a thread that leaves
    its array and shows an element that no thread wrote. Never raises because an answer is wrong.
    """
    outcomes = []
    for case in task.cases():
        outcomes.append(_run(answer, case, task))
        if isinstance(outcomes[-1].error, CompileError | KernelTimeout):  # it is the same, or takes as long, elsewhere
            break
    findings, hints = _watch(answer, outcomes, task.also_wrong) if task.sanitize else ((), ())
    spent: tuple[Spent, ...] = ()
    if task.budgets and Evidence(task, tuple(outcomes), (), findings, hints).right:
        spent, counted = _count(answer, task)
        if not counted.ok:  # it did less than elsewhere, and that is no cost of an answer
            spent, outcomes = (), [*outcomes, counted]
    return Evidence(task, tuple(outcomes), spent, findings, hints)


def _run(answer, case: Case, task: Exercise) -> Outcome:
    if task.language == "python":
        try:
            got = answer(*case.arguments)
        except Exception as error:
            return Outcome(case, error=error)
        wrong = np.array([not alike(got, case.expected, task.tolerance)])
        return Outcome(case, got, np.zeros(1, bool), wrong)
    timeline = None
    try:
        if task.language == "streams":
            got, timeline = stream_work.issue(answer, case)
        else:
            arguments, outputs = place(case)
            kernel, _, finish = twin(answer)
            with counting() if task.budgets else contextlib.nullcontext():  # compiled so for its budgets anyway
                launch(kernel, case.grid, case.block, arguments)
            finish()
            got = outputs[0].get()
    except Exception as error:  # a learner's kernel may fail in any way; the report says how
        return Outcome(case, error=error)
    outcome = _compared(case, got, task, timeline)
    if (
        outcome.ok
        and isinstance(answer, stream_work.Issued)
        and (words := stream_claims.doubt(timeline.operations, case))
    ):
        return Outcome(case, error=Unaccounted(f"the recording does not account for the result: {words}"))
    return outcome


def _compared(case: Case, got: np.ndarray, task: Exercise, timeline: Timeline | None = None) -> Outcome:
    """An output beside what it should be."""
    expected = case.out.expected
    if got.shape != expected.shape or got.dtype.kind not in "biufc":
        return Outcome(case, error=ValueError(f"the result is {got.dtype} of shape {got.shape}, not {expected.shape}"))
    untouched = np.zeros(got.shape, bool)
    if case.out.initial is None:
        bytes_ = got.reshape(-1, 1).view(np.uint8).reshape(got.size, -1)
        untouched = (bytes_ == POISON).all(axis=1).reshape(got.shape)
    with np.errstate(invalid="ignore"):
        wrong = ~np.isclose(got, expected, rtol=task.tolerance, atol=task.tolerance, equal_nan=True)
    return Outcome(case, got, untouched, wrong, timeline=timeline)


def place(case: Case) -> tuple[list, list]:
    """The arguments of a case in the virtual GPU's memory, and the arrays among them that are outputs."""
    from helpers.vgpu import cupy as cp

    arguments, outputs = [], []
    for argument in case.arguments:
        if isinstance(argument, Out):
            array = cp.empty(argument.expected.shape, argument.expected.dtype)
            array.view(np.uint8).fill(POISON)
            if argument.initial is not None:
                array[...] = cp.asarray(argument.initial)
            outputs.append(array)
            arguments.append(array)
        else:
            arguments.append(cp.asarray(argument) if isinstance(argument, np.ndarray) else argument)
    return arguments, outputs


def _watch(
    answer, outcomes: list[Outcome], also_wrong: tuple[str, ...]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The sanitizer's errors in the first case that has any, of those that ran to their end, and its hints there.

    Hints fail nobody, but those of the kinds `also_wrong`; they tell mistakes apart that lead to the same error.
    """
    from helpers.vgpu.sanitize import sanitize

    timelines = [outcome.timeline for outcome in outcomes if outcome.timeline is not None]
    if timelines:
        return next((found for found in map(stream_work.unordered, timelines) if found), ()), ()
    for case in (outcome.case for outcome in outcomes if outcome.error is None):
        arguments, _ = place(case)
        _forget(answer)
        found = sanitize(answer, case.grid, case.block, tuple(arguments), races_in_global=True, timeout=LONGEST_WATCH)
        errors = found.errors + tuple(hint for hint in found.hints if hint.kind in also_wrong)
        if errors:
            return errors, found.hints
    return (), ()


def _forget(answer) -> None:
    """Let a kernel that came from elsewhere find nothing of earlier launches, by which it could tell this one."""
    if hasattr(answer, "forget"):
        answer.forget()


def _count(answer, task: Exercise) -> tuple[tuple[Spent, ...], Outcome]:
    """What an answer spends, and whether it gave the right result while it was counted."""
    from helpers.profile import profile

    # Work that was asked for elsewhere was asked for with the cases alone.
    chosen = None if isinstance(answer, stream_work.Issued) else task.measured
    case = chosen() if chosen else task.cases()[-1]
    if task.language == "streams":
        got, counted = stream_work.issue(answer, case)
    else:
        arguments, outputs = place(case)
        _forget(answer)
        watched = case.watched if any(b.of == "warp" for b in task.budgets) else None
        counted = profile(answer, case.grid, case.block, arguments, watched=watched)
        counted = _of_arrays(counted, arguments, outputs)
        got = outputs[0].get()
    of = {"launch": lambda: counted, "warp": cache(lambda: counted.chain), "warps": lambda: counted.by_warp}
    spent = tuple(
        Spent(b.label, _measured(b, of[b.of]), b.at_most, b.teach, _worst_line(counted, b)) for b in task.budgets
    )
    if task.shared_out and not all(each.over for each in spent) and (alone := counted.by_warp.who_does_most()):
        spent = tuple(replace(each, alone=alone) for each in spent)
    return spent, _compared(case, got, task)


def _of_arrays(counted: Profile, arguments: list, outputs: list) -> Profile:
    """The profile with a footprint of no more than the arrays that were given, and of no more written than outputs.

    Else a kernel would look sparing by going, once and in order, through a large variable of its own.
    """
    seen = counted.counters.footprint
    arrays = [argument for argument in arguments if hasattr(argument, "get")]
    kept = Footprint(min(seen.read_bytes, _sectors(arrays)), min(seen.written_bytes, _sectors(outputs)))
    return replace(counted, counters=replace(counted.counters, footprint=kept))


def _sectors(arrays: list) -> int:
    """The bytes of all sectors that arrays lie in."""
    return SECTOR * sum(-(-array.nbytes // SECTOR) for array in arrays)


def _measured(budget: Budget, counted) -> float:
    try:
        return float(budget.measure(counted()))
    except ChainTooLong:  # so much is done that it is not followed to the end
        return math.inf


def _worst_line(counted, budget) -> str:
    worst = max(getattr(counted, "lines", ()), key=lambda line: line[budget.line_by], default=None)
    if worst is None or not worst[budget.line_by]:
        return ""
    return f"line {worst.number}: {worst.source.strip()}"


def _told_apart(got, wanted) -> tuple[str, str]:
    """Two values in words, with as many digits as it takes to see that they differ."""
    said = ("", "")
    for digits in (6, 9, 17):
        said = _value(got, digits), _value(wanted, digits)
        if said[0] != said[1]:
            break
    return said


def _value(value, digits: int) -> str:
    """A value as one reads it: whole parts to the last digit, fractions to so many in all; tuples piece by piece."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in (tuple, list):
        inner = ", ".join(_value(each, digits) for each in value)
        return f"[{inner}]" if type(value) is list else f"({inner}{',' * (len(value) == 1)})"
    if not isinstance(value, float):
        return repr(value)
    whole = len(f"{abs(value):.0f}") if abs(value) < _ALL_WHOLE else 0
    return f"{value:.{max(whole, digits)}g}"
