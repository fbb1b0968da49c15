"""Try an answer to an exercise: every case on fresh memory, under the sanitizer where asked, then what it costs.

What was seen is `Evidence`: no words, no verdict. `verdicts` names the mistake in it, `check` and the grader report.
Kernels run wherever `runs` says (`trial.Here`: in this process); what is expected stays here, and is compared here. A
launch whose costs count is one whose result was compared.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from helpers.checking import replayed, stream_work
from helpers.checking.exercise import Budget, Case, Exercise, Form, Out, alike, comparable, differing
from helpers.checking.trial import POISON, Blank, Here, Runs, Seen, Trial
from vgpu.base.errors import CompileError, KernelTimeout
from vgpu.hardware import gpus
from vgpu.hardware.device import current, kept
from vgpu.hardware.gpus import GPU
from vgpu.launch.counters import Counters, Footprint
from vgpu.tools.profile_table import METRICS
from vgpu.tools.sanitize.findings import Finding
from vgpu.tools.streams.recording import Timeline

if TYPE_CHECKING:
    from vgpu.compile.resources import Resources
    from vgpu.tools.profile import Profile

_ALL_WHOLE = 2.0**53  # every float from here on is a whole number, mostly with digits that nobody calculated
_METRICS = {name: metric for metric in METRICS for name in (metric.key, metric.nsight) if name}


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one case gave: the first output (or the value returned), which elements no thread wrote and which are
    wrong, or the error; and what its budgets measure: of a launch all that was `seen`, of stream work its recording, of
    a plan what was `played`, whose result stands for the value returned. After an error both masks are empty."""

    case: Case
    got: Any = None
    untouched: np.ndarray = field(default_factory=partial(np.zeros, 0, bool))
    wrong: np.ndarray = field(default_factory=partial(np.zeros, 0, bool))
    error: Exception | None = None
    timeline: Timeline | None = None
    seen: Seen | None = None
    tolerance: float = 1e-5
    played: Any = None

    @property
    def ok(self) -> bool:
        return self.error is None and not self.wrong.any()

    @property
    def pieces(self) -> tuple[Outcome, ...]:
        """Of a function that should return several arrays, and returns as many things: what was seen of each."""
        got, wanted = self.got, self.case.expected
        several = isinstance(wanted, tuple) and any(isinstance(each, np.ndarray) for each in wanted)
        if not several or not isinstance(got, tuple) or len(got) != len(wanted):
            return ()
        return tuple(
            _returned(replace(self.case, expected=w), g, self.tolerance) for g, w in zip(got, wanted, strict=True)
        )

    @property
    def first_wrong_piece(self) -> tuple[int, Outcome] | None:
        """The number, from 0, and what was seen of it."""
        return next(((number, each) for number, each in enumerate(self.pieces) if not each.ok), None)

    def note(self) -> str:
        """One phrase on what happened."""
        if self.error is not None:
            return f"stopped, {type(self.error).__name__}"
        if self.ok:
            return "right"
        if not any(isinstance(argument, Out) for argument in self.case.arguments):  # it returns, and writes nothing
            if isinstance(self.case.expected, Form):
                return f"returned {self.case.expected.lacks(self.got)}, should be {self.case.expected}"
            if self.got is None and self.case.plays is not None:
                return "returned None"
            if (each := self.first_wrong_piece) is not None:
                return f"result[{each[0]}]: {each[1].note()}" if len(self.pieces) > 1 else each[1].note()
            if not comparable(self.got, self.case.expected):
                return "returned {}, should be {}".format(*_told_apart(self.got, self.case.expected))
        index = tuple(int(i) for i in np.argwhere(self.wrong)[0])
        place = index[0] if len(index) == 1 else index
        was, wanted = _told_apart(self.got[index], self.case.out.expected[index])
        was = "still as it was" if self.untouched[index] else was  # unwritten, or NaN and a number
        count = f"{int(self.wrong.sum()):,} of {self.wrong.size:,} wrong"
        return f"{count}; element {place} is {was}, should be {wanted}"


def figure(value: float) -> str:
    """A count or a ratio in four digits, and from 1,000 on as a whole number."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


@dataclass(frozen=True)
class Spent:
    """One budget and what the kernel spent of it in `case`, which does not count where `alone`, a block or warp, did
    most. `lacking`: why it could not be measured."""

    label: str
    value: float
    at_most: float
    teach: str = field(repr=False)
    where: str = field(default="", repr=False)
    alone: str = field(default="", repr=False)
    lacking: str = field(default="", repr=False)
    case: Case | None = field(default=None, repr=False, compare=False)

    @property
    def hidden(self) -> bool:
        """Whether the case is one of which nothing may be told."""
        return self.case is not None and self.case.hidden

    @property
    def over(self) -> bool:
        return not self.value <= self.at_most

    @property
    def ok(self) -> bool:
        return not self.over and not self.alone

    def __str__(self) -> str:
        if self.lacking:
            return f"{self.label}: {self.lacking}"
        if self.alone and not self.over:
            return f"{self.label}: does not count, as {self.alone} does most of the work"
        value, most = ("too much to count" if math.isinf(n) else figure(n) for n in (self.value, self.at_most))
        return f"{self.label}: {value} (at most {most})"


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that was seen of an answer. `budgets` is empty where a result is wrong: the cost of that says nothing.

    `partly`: what the measured launches cost where they are right and another case is wrong, as without a guard.
    `watched`: the case in which the sanitizer found `findings`, None where it found nothing.
    """

    exercise: Exercise
    outcomes: tuple[Outcome, ...]
    budgets: tuple[Spent, ...] = ()
    findings: tuple[Finding | stream_work.Unordered, ...] = ()
    hints: tuple[Finding, ...] = ()
    watched: Case | None = None
    partly: tuple[Spent, ...] = ()

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


def examine(answer: Any, task: Exercise, runs: Callable[[Any], Any] = Here, partly: bool = False) -> Evidence:
    """Run every case of `task`, watch those that ran to their end, and look at the costs if all is right; or `partly`
    right, which is for marks.

    Results and counters both come from the virtual GPU, on a machine with a GPU too: it catches a thread that leaves
    its array and shows an element that no thread wrote. `runs` makes of a kernel what runs it. Never raises because an
    answer is wrong.
    """
    with _modelling(task):
        return _examined(answer, task, runs, partly)


def _modelling(task: Exercise) -> contextlib.AbstractContextManager:
    """The context in which the GPU that an exercise names is the modelled one."""
    return kept(gpus.find(task.gpu)) if task.gpu else contextlib.nullcontext()


def _examined(answer: Any, task: Exercise, runs: Callable[[Any], Any], partly: bool) -> Evidence:
    kernel = runs(answer) if task.asks_for_a_kernel else None
    if task.language == "tensors":
        answer = replayed.playable(answer, runs)
    cases = task.cases()
    seen = Evidence(task, ())
    for case in cases:
        outcome = _tried(answer, kernel, case, task, watch=task.sanitize and not seen.findings)
        seen = replace(seen, outcomes=(*seen.outcomes, outcome))
        if isinstance(outcome.error, CompileError | KernelTimeout):  # it is the same, or takes as long, elsewhere
            break
        if task.sanitize and not seen.findings:
            seen = _with_findings(seen, outcome)
    if not task.budgets or not (seen.right or (partly and _may_be_partly_right(seen))):
        return seen
    spent: list[tuple[Spent, ...]] = []
    for case in _costed(answer, cases, task):
        before = next((each for each in seen.outcomes if each.case is case and seen.right), None)
        outcome = before or _tried(answer, kernel, case, task, watch=task.sanitize and not seen.right)
        if not seen.right and (not outcome.ok or _with_findings(Evidence(task, ()), outcome).findings):
            return seen
        if not outcome.ok:  # it did less than elsewhere, and that is no cost of an answer
            return replace(seen, outcomes=(*seen.outcomes, outcome))
        spent.append(_spent(kernel, outcome, task))
    # Of several launches the first counts in which the budget is not kept.
    worst = tuple(next((each for each in same if not each.ok), same[0]) for same in zip(*spent, strict=True))
    return replace(seen, budgets=worst) if seen.right else replace(seen, partly=worst)


def _may_be_partly_right(seen: Evidence) -> bool:
    """Whether what is wrong may be a guard: some case is right, no kernel failed for good, and nothing races."""
    fatal = any(isinstance(outcome.error, CompileError | KernelTimeout) for outcome in seen.outcomes)
    racing = any(found.kind.startswith("race") for found in seen.findings)
    return seen.exercise.asks_for_a_kernel and not fatal and not racing and any(o.ok for o in seen.outcomes)


def watched(answer: Any, evidence: Evidence) -> Evidence:
    """The evidence of a kernel with a wrong result, and what the sanitizer finds in the first case that shows it.

    For exercises that do not ask the sanitizer: nobody passes or fails by it.
    """
    task, wrong = evidence.exercise, evidence.first_wrong
    if task.sanitize or not task.asks_for_a_kernel or wrong is None or wrong.error is not None:
        return evidence
    with _modelling(task):
        return _with_findings(evidence, _tried(answer, Here(answer), wrong.case, task, watch=True))


def _costed(answer: object, cases: list[Case], task: Exercise) -> list[Case]:
    """The launches whose costs count: one that is public, and the last of those that nobody knows beforehand."""
    public, hidden = ([case for case in cases if case.hidden is which] for which in (False, True))
    if isinstance(answer, stream_work.Issued):  # it was asked for with these cases, and so with no other
        return [cases[-1]]
    return [task.measured() if task.measured else public[-1], *hidden[-1:]]


def _tried(answer: Any, kernel: Runs | None, case: Case, task: Exercise, watch: bool = False) -> Outcome:
    """One case of an answer in any language, beside what it should give."""
    if task.asks_for_a_function:
        try:
            got, played = answer(*case.arguments), None
            if case.plays is not None and got is not None:
                got, played = case.plays(got)
        except Exception as error:
            return Outcome(case, error=error)
        return replace(_returned(case, got, task.tolerance), played=played)
    if kernel is None:  # it issues stream work
        return _issued(answer, case, task)
    followed = case.watched if any(budget.of in ("warp", "machine code") for budget in task.budgets) else None
    return _compared(case, kernel.run(trial(case, watch, followed)), task)


def _returned(case: Case, got: Any, tolerance: float) -> Outcome:
    """What a function returned beside what it should: element by element where both are arrays of one shape."""
    if comparable(got, case.expected):
        wrong = differing(got, case.expected, tolerance)
    else:
        wrong = np.array([not alike(got, case.expected, tolerance)])
    return Outcome(case, got, np.zeros(wrong.shape, bool), wrong, tolerance=tolerance)


def _issued(answer: Any, case: Case, task: Exercise) -> Outcome:
    try:
        got, timeline = stream_work.issue(answer, case)
    except Exception as error:  # a learner's function may fail in any way; the report says how
        return Outcome(case, error=error)
    return _compared(case, Seen(got), task, timeline)


def trial(case: Case, watch: bool = False, follow: tuple[int, int] | None = None) -> Trial:
    """The launch of a case, without a word on what is right."""
    arguments = tuple(
        Blank(argument.expected.dtype, argument.expected.shape, argument.initial)
        if isinstance(argument, Out)
        else argument
        for argument in case.arguments
    )
    return Trial(arguments, case.grid, case.block, watch, follow)


def _compared(case: Case, seen: Seen, task: Exercise, timeline: Timeline | None = None) -> Outcome:
    """An output beside what it should be."""
    if seen.error is not None:
        return Outcome(case, error=seen.error)
    got, expected = seen.output, case.out.expected
    assert got is not None  # a launch without an error has an output
    if got.shape != expected.shape or got.dtype.kind not in "biufc":
        return Outcome(case, error=ValueError(f"the result is {got.dtype} of shape {got.shape}, not {expected.shape}"))
    untouched = np.zeros(got.shape, bool)
    if case.out.initial is None:
        bytes_ = got.reshape(-1, 1).view(np.uint8).reshape(got.size, -1)
        untouched = (bytes_ == POISON).all(axis=1).reshape(got.shape)
    wrong = differing(got, expected, task.tolerance)
    return Outcome(case, got, untouched, wrong, timeline=timeline, seen=seen)


def _with_findings(seen: Evidence, outcome: Outcome) -> Evidence:
    """With the errors in a case, of the sanitizer or of the order of stream work, and its hints there.

    Hints fail nobody, but those of the kinds `also_wrong`; they tell mistakes apart that lead to the same error.
    """
    if outcome.timeline is not None:
        hazards = stream_work.unordered(outcome.timeline)
        return replace(seen, findings=hazards, watched=outcome.case) if hazards else seen
    found = outcome.seen.findings if outcome.seen is not None else ()
    errors = tuple(f for f in found if f.level == "error" or f.kind in seen.exercise.also_wrong)
    hints = tuple(f for f in found if f.level == "hint")
    return replace(seen, findings=errors, hints=hints, watched=outcome.case) if errors else seen


# --- costs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """What budgets measure of a launch: its counters, by the names that a `Profile` has, the compiler's numbers, and
    the case, which says what is needed."""

    counters: Counters
    runs: Runs
    gpu: GPU
    case: Case

    def __getitem__(self, name: str) -> float:
        metric = _METRICS.get(name)
        if metric is None:
            return self.counters[name]
        value = metric.value(cast("Profile", self))  # what metrics read of it
        assert value is not None  # budgets count, and a ratio to nothing is no count
        return value

    @property
    def needed(self) -> Footprint:
        """The global memory that any right answer touches."""
        return self.case.needed

    @property
    def total(self) -> Mapping[str, int]:
        """Every counter of the whole launch by its plain key."""
        return self.counters.total

    @property
    def resources(self) -> Resources:
        """Registers, shared memory and spills; CompileError on a GPU that cannot run the kernel."""
        return self.runs.resources(self.gpu)

    def on(self, gpu: GPU | str) -> Cost:
        """The same counts, and the compiler's numbers for another GPU."""
        return replace(self, gpu=gpus.find(gpu) if isinstance(gpu, str) else gpu)


def _spent(kernel: Runs | None, outcome: Outcome, task: Exercise) -> tuple[Spent, ...]:
    """What an answer spends in one case."""
    seen = outcome.seen
    if outcome.timeline is not None:
        return tuple(_measured(b, lambda: outcome.timeline, outcome.case) for b in task.budgets)
    if seen is None:
        return tuple(_measured(b, lambda: outcome, outcome.case) for b in task.budgets)
    counted = seen.counters
    assert kernel is not None and counted is not None and counted.by_warp is not None  # a launch to its end
    of = {
        "launch": lambda: Cost(counted, kernel, current(), outcome.case),
        "warp": lambda: seen.chain,
        "machine code": lambda: (seen.chain, kernel.machine_code),
        "warps": lambda: counted.by_warp,
    }
    alone = counted.by_warp.who_does_most() if task.shared_out else ""
    lines = counted.lines

    def where(budget: Budget, value: float) -> str:
        """The line that breaks the limit by itself; where several do so together, none of them is to blame for sure."""
        counts = {number: line.get(budget.line_by, 0) for number, line in lines.items()}
        number, whole = max(counts, key=counts.__getitem__, default=0), sum(counts.values())
        if not whole or not value * counts[number] / whole > budget.at_most:
            return ""
        return f"line {number}: {kernel.line(number)}"

    return tuple(_measured(b, of[b.of], outcome.case, alone, where) for b in task.budgets)


def _measured(
    budget: Budget, counted: Callable, case: Case, alone: str = "", where: Callable[[Budget, float], str] | None = None
) -> Spent:
    value, lacking = math.inf, ""
    try:
        found = counted()
        value = math.inf if found is None else float(budget.measure(found))  # None: too much to follow to its end
    except CompileError as error:  # it needs a newer GPU than one that the budget is about
        lacking = str(error).split("\n")[0]
    line = where(budget, value) if where is not None and not lacking else ""
    return Spent(budget.label, value, budget.at_most, budget.teach, line, alone, lacking, case)


def _told_apart(got: object, wanted: object) -> tuple[str, str]:
    """Two values in words, with as many digits as it takes to see that they differ."""
    said = ("", "")
    for digits in (6, 9, 17):
        said = _value(got, digits), _value(wanted, digits)
        if said[0] != said[1]:
            break
    return said


def _value(value: Any, digits: int) -> str:
    """A value as one reads it: whole parts to the last digit, fractions to so many in all; tuples piece by piece."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in (tuple, list):
        inner = ", ".join(_value(each, digits) for each in value)
        return f"[{inner}]" if type(value) is list else f"({inner}{',' * (len(value) == 1)})"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    if not isinstance(value, float):
        return repr(value)
    whole = len(f"{abs(value):.0f}") if abs(value) < _ALL_WHOLE else 0
    return f"{value:.{max(whole, digits)}g}"
