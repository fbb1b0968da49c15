"""Grade one submission: its notebook under `pytest --nbval`, in this worker's sandboxes, to a result."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from helpers.checking.exercise import exercise
from helpers.grading import keys, nbval_plugin, worker
from helpers.grading.judging import judged
from helpers.grading.marking import JUDGED_FAULTS, SAID, Marker
from helpers.grading.merged import GRADED as GRADED_CELL
from helpers.grading.merged import SOLUTION, STUDENT, Planned
from helpers.grading.policy import Policy
from helpers.grading.results import GRADED, STUDENT_FAULT, UNGRADED, Mark, Result
from helpers.grading.sandbox import InfrastructureFault, JobFault
from helpers.grading.sandbox.meter import Allowance
from helpers.grading.session import Death, Session
from helpers.grading.worker import Sandboxes, Settings


@dataclass(frozen=True)
class Job:
    """One submission as it is sent to a worker: all that is needed, and no path."""

    student: str
    file: str
    lab: str
    key: str
    planned: Planned = field(repr=False)
    notes: tuple[str, ...] = ()


def grade(job: Job, settings: Settings) -> Result:
    """The result of one submission. Whatever fails that is not the student's doing makes it ungraded, not wrong."""
    started = time.monotonic()
    marker = None
    try:
        if settings.environment != keys.of_environment():
            raise InfrastructureFault("this worker has other versions of packages or of Warpbook than the grader")
        with worker.sandboxes(settings) as sandboxes:
            session, marker = _set_up(sandboxes, settings, job)
            with worker.folder() as folder:
                nbval_plugin.run(job.planned, session, marker, folder)
            if len(marker.marks) != len(_graded_cells(job)):
                raise InfrastructureFault("pytest did not come to the end of the notebook")
            tier = sandboxes.student.tier.name
    except Exception as error:
        return ungraded(job, error, tuple(marker.marks) if marker else (), time.monotonic() - started)
    marks = tuple(marker.marks)
    reason = _faults(job, session, marks)
    result = _result(job, STUDENT_FAULT if reason else GRADED, marks, reason, tier, time.monotonic() - started)
    return replace(result, late=_late(job, session, marks))


def ungraded(job: Job, error: BaseException, marks: tuple[Mark, ...] = (), seconds: float = 0.0) -> Result:
    """What a submission has when the grader itself failed: no zero, and words on what happened."""
    words = str(error).strip() or "no words"
    reason = words if isinstance(error, InfrastructureFault) else f"{type(error).__name__}: {words}"
    judged = {mark.cell for mark in marks}
    left = [cell for cell in _graded_cells(job) if cell.id not in judged]
    marks += tuple(Mark(c.id, c.exercise, c.part, 0.0, c.points, "unjudged", why="The grader failed.") for c in left)
    return _result(job, UNGRADED, marks, reason[:2000], "", seconds)


def _set_up(sandboxes: Sandboxes, settings: Settings, job: Job) -> tuple[Session, Marker]:
    policy = settings.policy
    session = session_of(job.planned, sandboxes.student.kernel, policy)

    def judge(exercise: str, evidence: dict, open: bool) -> dict:
        request = {"exercise": exercise, "seed": settings.seed, "evidence": evidence, "open": open}
        for last in (False, True):
            if not (seconds := min(policy.judge_seconds, session.left())):
                raise JobFault("timeout", f"a submission may take {policy.whole_seconds:g} s in all, which are used up")
            allowance = Allowance(seconds)
            try:
                return judged(sandboxes.judge, sandboxes.runner, request, allowance)
            except JobFault as fault:
                # What ends a process cannot always be told from what runs in it, so there is a second try.
                if last or fault.outcome != "crash":
                    raise
            finally:
                session.spend(allowance.used)
        raise AssertionError

    return session, Marker(judge, policy.evidence_bytes, handed(job.planned))


def session_of(planned: Planned, open_kernel: Callable, policy: Policy) -> Session:
    """The session that runs a notebook's cells."""
    return Session(open_kernel, policy, patience(planned), planned.own, planned.theirs)


def patience(planned: Planned) -> dict[int, float]:
    """How many times as long as others a cell may take, by its number: where an answer trains a network."""
    solutions = ((number, cell) for number, cell in enumerate(planned.cells) if cell.kind == SOLUTION)
    return {number: exercise(cell.exercise).patience for number, cell in solutions if cell.exercise}


def handed(planned: Planned) -> frozenset[str]:
    """The exercises of a notebook whose hidden inputs the student's own process is given; a kernel's never are."""
    keys = {cell.exercise for cell in planned.cells if cell.kind == GRADED_CELL}
    return frozenset(key for key in keys if exercise(key).language in ("python", "streams"))


def _graded_cells(job: Job) -> list:
    return [cell for cell in job.planned.cells if cell.kind == GRADED_CELL]


def _faults(job: Job, session: Session, marks: tuple[Mark, ...]) -> str:
    """What ran out of its limits, in words; "" where nothing did."""
    said = [f"{death.outcome} in {_place(job, death.cell)}: {_said(job, death)}" for death in session.deaths]
    judged = {m.exercise: m for m in reversed(marks) if m.why == JUDGED_FAULTS.get(m.outcome)}  # once an exercise
    said += [f"{m.outcome} in {m.cell}: {m.why.rstrip('.')}" for m in reversed(judged.values())]
    return "; ".join(dict.fromkeys(said))[:2000]


def _late(job: Job, session: Session, marks: tuple[Mark, ...]) -> tuple[str, ...]:
    """The cells that ran out of time, or whose judging did."""
    cells = [_place(job, death.cell) for death in session.deaths if death.outcome == "timeout"]
    cells += [mark.cell for mark in marks if mark.outcome == "timeout" and mark.why == JUDGED_FAULTS["timeout"]]
    return tuple(dict.fromkeys(cells))


def _said(job: Job, death: Death) -> str:
    """How a cell ended its kernel; of a cell that may know hidden inputs no number that it can choose."""
    keys = handed(job.planned)
    first = next(
        (n for n, cell in enumerate(job.planned.cells) if cell.kind == GRADED_CELL and cell.exercise in keys), None
    )
    return death.says if first is None or death.cell < first else SAID[death.outcome].rstrip(".")


def _place(job: Job, number: int) -> str:
    cell = job.planned.cells[number]
    if cell.kind != STUDENT:
        return cell.id
    return f"a cell of their own after {cell.id}" if cell.id else "a cell of their own at the top"


def _result(job: Job, state: str, marks: tuple[Mark, ...], reason: str, tier: str, seconds: float) -> Result:
    return Result(job.student, job.file, job.lab, state, marks, reason, job.key, tier, job.notes, seconds)
