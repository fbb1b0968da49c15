"""From what a graded cell showed to its mark: evidence is looked for in the outputs, somebody else judges it."""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from helpers.checking.probe import MIME
from helpers.grading.merged import GRADED, MISSING, REFERENCE, SOLUTION, UNCHANGED, PlannedCell
from helpers.grading.regions import STUB
from helpers.grading.results import FAULTS, Mark
from helpers.grading.sandbox import InfrastructureFault, JobFault, Run

Judge = Callable[[str, dict, bool], Mapping]
"""What judges: the key of an exercise, evidence, and whether no hidden input had been handed to the student's process
before -> part -> {right, mistake, why}. It may raise JobFault."""

LONGEST_WHY = 4_000
JUDGED_FAULTS = {
    "timeout": "Judging it took too long: does every loop end, whatever the data and the size?",
    "memory": "It used more memory than it may while it was judged.",
    "crash": "Your answer crashed the process in which it was judged.",
}
"""Words for what evidence may do to the judge."""
SAID = {
    "timeout": "The cell took too long and was stopped.",
    "crash": "The kernel died in this cell.",
    "memory": "The cell used more memory than it may.",
    "output": "The cell wrote more than it may.",
}

NOTHING_SHOWN = "What the graded cell recorded can't be judged. Leave `probe` and `helpers` as they are."
AFTER_A_STOP = (
    "The lab's cell {cell} did not come to its end after your cells had run, so what it defines is missing here. "
    "Restart the kernel, run all cells, and see what keeps that cell from ending."
)
IS_IT = "Does it have the name, the arguments and the result that the lab describes?"


class NoProbe(ValueError):
    """A graded cell showed no evidence that can be judged; the message says why."""


@dataclass(frozen=True)
class _Answer:
    """A solution cell after it was run."""

    cell: PlannedCell
    untouched: bool
    run: Run
    open: bool


class Marker:
    """Marks of one submission: `marks` grows by one with the end of each graded cell.

    `handed`: keys of the exercises whose graded cells hand hidden inputs to the student's process. From the first of
    these on, whatever that process says may hold them: then nothing that it can choose becomes feedback, neither a
    name of an exception nor a number.
    """

    def __init__(self, judge: Judge, evidence_bytes: int, handed: Collection[str] = ()):
        self.marks: list[Mark] = []
        self._judge, self._evidence_bytes, self._handed, self._open = judge, evidence_bytes, frozenset(handed), True
        self._answers: defaultdict[str, list[_Answer]] = defaultdict(list)
        self._verdicts: dict[str, Mapping | JobFault] = {}
        self._stopped: list[PlannedCell] = []  # cells of the lab's own that ended the kernel

    def ended(self, cell: PlannedCell, source: str, run: Run) -> Mark | None:
        """Take note of what came of a cell; the mark, if it is a graded one. May raise InfrastructureFault."""
        if cell.kind == SOLUTION:
            untouched = cell.answer == MISSING or (cell.answer == UNCHANGED and STUB in source)
            self._answers[cell.exercise].append(_Answer(cell, untouched, run, self._open))
        if cell.kind == REFERENCE and run.outcome in FAULTS:
            self._stopped.append(cell)
        if cell.kind != GRADED:
            return None
        self._open = self._open and cell.exercise not in self._handed
        started = time.monotonic()
        earned, outcome, mistake, why = self._judged(cell, source, run)
        seconds = run.seconds + time.monotonic() - started
        mark = Mark(cell.id, cell.exercise, cell.part, earned, cell.points, outcome, mistake, why, seconds)
        self.marks.append(mark)
        return mark

    def _judged(self, cell: PlannedCell, source: str, run: Run) -> tuple[float, str, str | None, str]:
        """(points, outcome, mistake, why) of a graded cell."""
        if run.outcome in FAULTS:
            return 0.0, run.outcome, None, _said(run, self._open)
        if run.outcome == "error":
            return 0.0, *self._why_nothing(cell, source, run)
        try:
            shown = evidence_in(run.outputs, cell, self._evidence_bytes)
        except NoProbe as error:
            return 0.0, "wrong", None, str(error) if self._open else NOTHING_SHOWN
        verdict = self._verdict(cell.exercise, shown)
        if isinstance(verdict, JobFault):
            return 0.0, verdict.outcome, None, JUDGED_FAULTS[verdict.outcome]
        share, mistake, why = _part(verdict, cell.part)
        if share == 1:
            return cell.points, "right", None, why
        if self._untouched(cell.exercise):
            return 0.0, "missing", None, "There is no answer yet."
        return share * cell.points, "wrong", mistake, why

    def _why_nothing(self, cell: PlannedCell, source: str, run: Run) -> tuple[str, str | None, str]:
        """Why a graded cell stopped with an exception: most often its answer was never made."""
        if self._untouched(cell.exercise):
            return "missing", None, "There is no answer yet."
        for answer in self._answers[cell.exercise]:
            if answer.run.outcome in FAULTS:
                return answer.run.outcome, None, f"In the answer: {_said(answer.run, answer.open)}"
            if answer.run.outcome == "error":
                words = said_by(answer.run.error) if answer.open else "an exception"
                return "error", None, f"The cell of the answer stopped with {words}"
        if self._stopped:
            return "error", None, AFTER_A_STOP.format(cell=self._stopped[0].id)
        if not self._open:
            return "error", None, f"Trying the answer raised an exception. {IS_IT}"
        name = _not_defined(run.error)
        if name and re.search(rf"\b{name}\b", source):
            why = f"Nothing is called {name}, by which the lab knows the answer: leave names as they are."
            return "error", None, why
        return "error", None, f"Trying the answer raised {_name(run.error)}. {IS_IT}"

    def _untouched(self, exercise: str) -> bool:
        return bool(self._answers[exercise]) and all(answer.untouched for answer in self._answers[exercise])

    def _verdict(self, exercise: str, shown: dict) -> Mapping | JobFault:
        """What the judge says of an exercise, of which the first answer that is shown counts for every part.

        Else two answers, each within other budgets, would have together what neither has alone, and each graded cell
        could keep the judge for as long as it may take.
        """
        if exercise not in self._verdicts:
            try:
                self._verdicts[exercise] = self._judge(exercise, shown, self._open)
            except JobFault as fault:
                self._verdicts[exercise] = fault
        return self._verdicts[exercise]


def evidence_in(outputs: Sequence[Mapping], cell: PlannedCell, most_bytes: int) -> dict:
    """The evidence that a graded cell showed: the first probe of its exercise and part counts.

    Raises NoProbe where there is none, or one that is too long or no plain JSON.
    """
    for output in outputs:
        data = output.get("data")
        shown = data.get(MIME) if isinstance(data, Mapping) else None
        if not isinstance(shown, dict) or (shown.get("exercise"), shown.get("part")) != (cell.exercise, cell.part):
            continue
        evidence = shown.get("evidence")
        try:
            text = json.dumps(evidence, allow_nan=False, sort_keys=True)
        except (ValueError, TypeError, RecursionError):
            raise NoProbe("What the graded cell recorded has a number that isn't finite, or isn't JSON.") from None
        if len(text) > most_bytes:
            raise NoProbe(f"What the graded cell recorded has {len(text):,} bytes, and {most_bytes:,} are the most.")
        if not isinstance(evidence, dict):
            raise NoProbe("The graded cell recorded no evidence. Leave `probe` and `helpers` as they are.")
        return evidence
    raise NoProbe("The graded cell recorded nothing. Leave `probe` and `helpers` as they are.")


def said_by(error: object) -> str:
    """An exception's type and first words, as an output of type "error" has them."""
    words = str(error.get("evalue", "")).strip().split("\n")[0][:300] if isinstance(error, Mapping) else ""
    words = re.sub(r"\(\d+\.py, line (\d+)\)$", r"(line \1 of the cell)", words)  # Jupyter calls cells by numbers
    return f"{_name(error)}: {words}" if words else _name(error)


def _name(error: object) -> str:
    name = str(error.get("ename", "")) if isinstance(error, Mapping) else ""
    return name if re.fullmatch(r"[A-Za-z_]\w{0,79}", name) else "an exception"


def _not_defined(error: object) -> str:
    """The name that a NameError misses, "" where it is none."""
    found = re.fullmatch(r"NameError: name '([A-Za-z_]\w{0,79})' is not defined.*", said_by(error))
    return found[1] if found else ""


def _part(verdict: Mapping, part: str) -> tuple[float, str | None, str]:
    """The share of the points, the mistake and the words."""
    found = verdict.get(part) if isinstance(verdict, Mapping) else None
    if not isinstance(found, Mapping) or not isinstance(found.get("right"), bool):
        raise InfrastructureFault(f"the judge says nothing on the part {part!r}")
    mistake, share = found.get("mistake"), 1.0 if found["right"] else found.get("share", 0.0)
    if type(share) is not float or not 0 <= share <= 1:
        raise InfrastructureFault(f"the judge gives the part {part!r} a share of {share!r}")
    return share, None if mistake is None else str(mistake), str(found.get("why", ""))[:LONGEST_WHY]


def _said(run: Run, open: bool) -> str:
    """What became of a cell that was stopped, as a sentence; of how a process ended only if it had nothing to hide."""
    words = run.says.strip() if open else ""
    return words[0].upper() + words[1:] + ("" if words[-1] in ".!?" else ".") if words else SAID[run.outcome]
