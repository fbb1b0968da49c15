"""`warpbook grade`: a folder of submissions to a folder of reports, and on again where a run was stopped."""

from __future__ import annotations

import difflib
import hashlib
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from helpers.checking.exercise import exercise
from helpers.grading import course, handed_in, imports, intake, keys, pools, report, secret
from helpers.grading.alarm import Alarm, withdrawn
from helpers.grading.ledger import Ledger
from helpers.grading.merged import SOLUTION, Planned, solved, transplant
from helpers.grading.policy import Policy
from helpers.grading.pools import Pool
from helpers.grading.release import as_bytes, learners_source
from helpers.grading.report import Classroom, Fingerprints, LabInfo, Part, Told, classroom
from helpers.grading.results import REJECTED, UNGRADED, Result
from helpers.grading.sandbox import TIERS, InfrastructureFault
from helpers.grading.source import Lab
from helpers.grading.submission import Job, ungraded
from helpers.grading.untrusted import read_cells
from helpers.grading.worker import Settings

REFERENCE = "the author's own solution"
SUPERSEDED = "another file of the same student counts"
NEEDS_A_GPU = "needs-gpu"
"""A tag of a cell of the author's notebook: on a cluster, its submissions go to workers that have a GPU."""


class NotGradable(Exception):
    """Nothing can be graded as things are; the message says what to do. `unready`: the machine, not the command."""

    def __init__(self, words: str, unready: bool = False):
        super().__init__(words)
        self.unready = unready


@dataclass(frozen=True)
class Options:
    """How a run is to go.

    `seed`: None to go on with the one that is kept, or draw one; `shard`: (which, of how many), counted from 1;
    `scheduler`: the address of Dask's; `trusted`: whether the class is; `classroom`: the file `class.toml`, None for
    what is kept; `again`: students who are graded again although their results stand; `keep_going`: whether it goes on
    where many run out of time in the same cell (see `alarm`).
    """

    workers: int | None = None
    seed: int | None = None
    shard: tuple[int, int] | None = None
    scheduler: str | None = None
    trusted: bool = False
    fork_server: bool = True
    tier: str | None = None
    policy: Policy = field(default_factory=Policy)
    classroom: Path | None = None
    again: tuple[str, ...] = ()
    keep_going: bool = False


@dataclass(frozen=True)
class Graded:
    """What a run gave: the results, those of earlier runs included, and what reports need."""

    results: tuple[Result, ...]
    lab: LabInfo
    kept: int
    fingerprints: Fingerprints = field(repr=False, default_factory=Fingerprints)
    told: tuple[Told, ...] = ()
    classroom: Classroom = field(repr=False, default_factory=Classroom)


class Plan:
    """What there is to do: jobs to be graded, results that stand, and what was rejected."""

    def __init__(self, lab: Lab, found: Sequence, seed: int, policy: Policy, again: Sequence[str] = ()):
        self.lab, self._found, self._again = lab, found, frozenset(again)
        self._inputs = secret.hidden_inputs(lab.exercises, seed)
        self._keys = keys.Keys(lab, policy, seed)
        self.size = len(found)
        self.answers: dict[str, dict[str, str]] = {}

    def results(self, ledger: Ledger) -> Iterator[Result]:
        """What needs no grading: rejections, and what stands in the ledger."""
        for piece in self._found:
            if (result := _rejection(piece, self.lab)) is not None:
                yield result
            else:
                job = self.job(piece)
                self.answers[job.student] = fingerprints(solution_sources(job.planned))
                result = ledger.settled(job.student, job.file, job.key)
                if result is not None and job.student not in self._again:
                    yield replace(result, notes=job.notes)

    def jobs(self, done: set[tuple[str, str]]) -> Iterator[Job]:
        """What is left, one by one: a class of thousands is not held in memory."""
        for piece in self._found:
            if (piece.student, piece.file) not in done:
                yield self.job(piece)

    def job(self, piece: intake.Submission) -> Job:
        planned = transplant(self.lab, piece, self._inputs)
        notes = tuple(dict.fromkeys((*piece.notes, *planned.notes)))
        return Job(piece.student, piece.file, self.lab.name, self._keys.of(planned), planned, notes)

    def reference(self) -> Job:
        """The author's own solution, handed in like any other."""
        cells = read_cells(as_bytes(solved(self.lab)))
        return self.job(intake.Submission(REFERENCE, self.lab.path.name, self.lab.path, cells, ""))


def grade(
    lab: Lab,
    submissions: Path,
    folder: Path,
    options: Options,
    progress: Callable[[int, int, Mapping[str, int]], None] = lambda *_: None,
    tell: Callable[[str], None] = lambda words: print(words, file=sys.stderr),
    pool: Pool | None = None,
) -> Graded:
    """Grade all in `submissions` that is not yet graded in `folder`, and write the reports there.

    `progress` is called with the number done, that of all, and counts by state; `pool` stands in for the workers that
    `options` ask for. Raises NotGradable, and `ledger.Taken`.
    """
    _check(submissions, folder)
    taken = intake.take_in(submissions, lab)
    if not taken.found:
        raise NotGradable(f"Nothing was handed in: {submissions} holds no notebook (.ipynb) and no archive of any.")
    found = [piece for piece in taken.found if in_shard(piece.student, options.shard)]
    _check_again(options.again, {piece.student for piece in found})
    of_class = _classroom(folder, options.classroom, found)
    folder.mkdir(parents=True, exist_ok=True)
    with Ledger(folder) as ledger:
        for words in ledger.told:
            tell(words)
        seed = secret.seed_of(folder, options.seed)
        plan = Plan(lab, found, seed, options.policy, options.again)
        results = {(result.student, result.file): result for result in plan.results(ledger)}
        kept = sum(result.state != REJECTED for result in results.values())
        counts = dict.fromkeys((result.state for result in results.values()), 0)
        for result in results.values():
            counts[result.state] += 1
        progress(len(results), len(found), counts)
        told = list(_told(taken, lab, options.shard))
        if len(results) < len(found):
            settings = _settings(lab, seed, options)
            with ExitStack() as opened:
                pool = opened.enter_context(pool or _pool(lab, options))
                _try_the_reference(plan, settings, pool)
                jobs = plan.jobs(set(results))
                told += _run(plan, jobs, settings, pool, ledger, results, counts, progress, options.keep_going)
        every = tuple(results[piece.student, piece.file] for piece in found)
        graded = Graded(every, lab_info(lab), kept, _fingerprints(lab, plan), tuple(told), of_class)
        report.keep(folder, every)
        report.write(
            folder, every, graded.lab,
            shard=options.shard, fingerprints=graded.fingerprints, told=told, classroom=of_class,
        )  # fmt: skip
    return graded


def _run(
    plan: Plan,
    jobs: Iterable[Job],
    settings: Settings,
    pool: Pool,
    ledger: Ledger,
    results: dict[tuple[str, str], Result],
    counts: dict[str, int],
    progress: Callable[[int, int, Mapping[str, int]], None],
    keep_going: bool,
) -> list[Told]:
    """Grade what is left, into `results` and the ledger; what the instructor has to know of it."""
    alarm, new = Alarm(), []
    for result in course.graded(jobs, settings, pool):
        ledger.add(result)
        new.append(result)
        results[result.student, result.file] = result
        counts[result.state] = counts.get(result.state, 0) + 1
        progress(len(results), plan.size, counts)
        if (cell := alarm.heard(result)) and not keep_going:
            pool.renew()  # what is in it now has no result yet, so nothing is lost
            for late in withdrawn(new, cell):
                ledger.add(late)
                results[late.student, late.file] = late
            for job in plan.jobs(set(results)):
                results[job.student, job.file] = ungraded(job, InfrastructureFault("the run was stopped before"))
            return [Told(alarm.words(cell), loud=True)]
    return [Told(alarm.warning(), loud=True)] if alarm.warning() else []


def in_shard(student: str, shard: tuple[int, int] | None) -> bool:
    """Whether a student belongs to a shard: always the same one, whoever else is in the class."""
    if shard is None:
        return True
    which, of = shard
    return int(hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest(), 16) % of == which - 1


def lab_info(lab: Lab) -> LabInfo:
    """The lab as reports see it."""
    parts = [
        Part(cell.grade_id, cell.asked.exercise, cell.asked.part, cell.points, exercise(cell.asked.exercise).title)
        for cell in lab.graded
    ]
    tiers = tuple(
        report.Tier(tier.name, tier.protects, tier.leaves) for tier in sorted(TIERS, key=lambda tier: tier.name)
    )
    return LabInfo(lab.name, lab.title, tuple(parts), tiers, keys.versions())


def solution_sources(planned: Planned) -> list[tuple[str, str]]:
    """Exercise and source of the solution cells, in order."""
    cells = zip(planned.cells, planned.notebook["cells"], strict=True)
    return [(known.exercise, cell["source"]) for known, cell in cells if known.kind == SOLUTION]


def _check(submissions: Path, folder: Path) -> None:
    if not submissions.exists():
        raise NotGradable(f"There is no folder or archive of submissions at {submissions}.")
    if folder.exists() and not folder.is_dir():
        raise NotGradable(f"{folder} is a file. Name a folder for the results with --out.")
    if folder.resolve().is_relative_to(submissions.resolve()):
        raise NotGradable(f"{folder} lies among the submissions. Name a folder elsewhere with --out.")


def _check_again(again: Sequence[str], there: Collection[str]) -> None:
    for student in again:
        if student not in there:
            near = difflib.get_close_matches(student, there, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise NotGradable(f"Nobody called {student!r} handed in anything, so --again can't apply.{hint}")


def _classroom(folder: Path, path: Path | None, found: Sequence) -> Classroom:
    """The class as `path` describes it, else as it is kept, with the times that submissions bring along."""
    try:
        known = classroom.kept(folder)
        if path is not None:
            known = replace(classroom.read(path), overrides=known.overrides)
    except (OSError, ValueError) as problem:
        raise NotGradable(str(problem)) from None
    return replace(known, times=handed_in.times(found))


def _settings(lab: Lab, seed: int, options: Options) -> Settings:
    return Settings(
        seed,
        options.policy,
        keys.of_environment(),
        options.tier,
        options.trusted,
        options.fork_server,
        (("student", imports.of_lab(lab)), ("judge", imports.of_exercises(lab.exercises))),
    )


def _pool(lab: Lab, options: Options) -> Pool:
    needs_gpu = any(NEEDS_A_GPU in cell.tags for cell in lab.cells)
    try:
        if options.scheduler is None:
            return pools.processes(options.workers)
        return pools.cluster(options.scheduler, {"GPU": 1} if needs_gpu else None)
    except (pools.NoCluster, pools.NoSockets) as error:
        raise NotGradable(str(error)) from None


def _try_the_reference(plan: Plan, settings: Settings, pool: Pool) -> None:
    """Grade the author's own solution first: where that has not all points, no student's marks would mean anything."""
    (result,) = course.graded([plan.reference()], settings, pool)
    if result.state == UNGRADED:
        raise NotGradable(f"The grader does not work here, so nothing was graded: {result.reason}", unready=True)
    lost = [f"{mark.cell}: {mark.outcome}. {mark.why}" for mark in result.marks if mark.points < mark.out_of]
    if lost:
        lines = [f"{REFERENCE.capitalize()} does not get all points here, so nothing was graded:", *lost]
        raise NotGradable("\n  ".join(lines), unready=True)


def _rejection(piece: intake.Submission | intake.Rejected, lab: Lab) -> Result | None:
    """The result of what is not graded at all."""
    if isinstance(piece, intake.Submission) and piece.counts:
        return None
    reason = piece.reason if isinstance(piece, intake.Rejected) else SUPERSEDED
    return Result(piece.student, piece.file, lab.name, REJECTED, reason=reason, notes=piece.notes)


def _told(taken: intake.Intake, lab: Lab, shard: tuple[int, int] | None) -> Iterator[Told]:
    """Files that were left out of whose students nothing else is there to carry a note."""
    known = {piece.student for piece in taken.found}
    for student, folders in intake.scattered(taken.found):
        if in_shard(student, shard):
            said = f"{student} has notebooks in {', '.join(folders)}, of which one counts"
            yield Told(f"{said}: if these are students, grade {student} by itself", loud=True)
    if not any(isinstance(piece, intake.Submission) for piece in taken.found):
        yield Told(f"nothing in it is {lab.name}: is it the lab that was handed in, and the right folder?", loud=True)
    for ignored in taken.ignored:
        if ignored.student not in known and in_shard(ignored.student, shard) and ignored.why != intake.HIDDEN:
            yield Told(f"left out {ignored.file!r}: {ignored.why}")


def _fingerprints(lab: Lab, plan: Plan) -> Fingerprints:
    starter = [(lab.exercise_of(cell) or "", learners_source(cell)) for cell in lab.solutions]
    reference = solution_sources(plan.reference().planned)
    return Fingerprints(dict(sorted(plan.answers.items())), fingerprints(reference), fingerprints(starter))


def fingerprints(sources: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The fingerprint of the answer to each exercise; `sources` are as `solution_sources` gives them."""
    by: dict[str, list[str]] = {}
    for key, source in sources:
        by.setdefault(key, []).append(source)
    return {key: report.fingerprint(found) for key, found in by.items()}
