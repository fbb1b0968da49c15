"""What every format is made of: the results in order, each with its file name and whether its points may be told."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from helpers.grading.report.classroom import OVERRIDES, TOTAL, Classroom, Override, Student
from helpers.grading.report.files import stems
from helpers.grading.report.lab import LabInfo, Tier
from helpers.grading.report.people import folded, match
from helpers.grading.report.words import amount, listed, one_line
from helpers.grading.results import GRADED, OVERRIDDEN, REJECTED, STATES, STUDENT_FAULT, UNGRADED, Mark, Result
from vgpu.base.words import plural

ORDER = (UNGRADED, GRADED, STUDENT_FAULT, REJECTED)
"""States in the order in which they are told: first what needs doing."""
STATE_WORDS = {GRADED: "graded", STUDENT_FAULT: "stopped", REJECTED: "rejected", UNGRADED: "UNGRADED"}
"""States as a table has them."""


@dataclass(frozen=True)
class Entry:
    """One submission: its result, the stem of its files' names, and why it has no points where it has none."""

    result: Result
    stem: str
    unsettled: str = ""

    @property
    def state(self) -> str:
        return UNGRADED if self.unsettled else self.result.state

    @property
    def ran(self) -> bool:
        """Whether its points mean anything."""
        return self.state in (GRADED, STUDENT_FAULT)

    @property
    def points(self) -> float | None:
        """Points earned; None, and never 0, where nothing was judged."""
        return self.result.points if self.ran else None

    @property
    def marks(self) -> dict[str, Mark]:
        """Marks by cell."""
        return {mark.cell: mark for mark in self.result.marks}


@dataclass(frozen=True)
class Told:
    """A line for the instructor; `loud` where something is missing until somebody acts."""

    text: str
    loud: bool = False


@dataclass(frozen=True)
class Standing:
    """One student in a gradebook: a score, or None and the reason why there is none.

    `torn` where several submissions disagree on it; `files` are all that the student handed in. `raw` is the score
    before `deducted` points were taken off for handing in late, and `said` tells the student about that, or about a
    score that was set by hand. `listed` is the student's row of the roster.
    """

    student: str
    score: float | None
    reason: str = ""
    torn: bool = False
    files: tuple[str, ...] = field(default=(), compare=False)
    raw: float | None = None
    deducted: float = 0.0
    said: str = ""
    listed: Student | None = None

    @property
    def also(self) -> tuple[str, ...]:
        """What the roster calls the student."""
        return (*self.listed.person.keys, self.listed.person.name) if self.listed else ()


@dataclass(frozen=True)
class Fingerprints:
    """Hashes of the solution cells by exercise, see `fingerprint`: of each student, of the reference, of the lab as
    handed out."""

    students: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reference: Mapping[str, str] = field(default_factory=dict)
    starter: Mapping[str, str] = field(default_factory=dict)

    def joined(self, other: Fingerprints) -> Fingerprints:
        """Those of both: of one lab, whose students may be others."""
        return Fingerprints(
            {**self.students, **other.students}, self.reference or other.reference, self.starter or other.starter
        )


@dataclass(frozen=True)
class Material:
    """All that a format may look at."""

    lab: LabInfo
    entries: tuple[Entry, ...]
    fingerprints: Fingerprints = Fingerprints()
    templates: Mapping[str, bytes] = field(default_factory=dict)
    column: str = ""
    zero_rejected: bool = False
    told: tuple[Told, ...] = ()
    classroom: Classroom = field(default_factory=Classroom)
    listed: Mapping[str, Student] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """Submissions by state, those that need doing first."""
        found = Counter(entry.state for entry in self.entries)
        return {state: found[state] for state in ORDER}

    def tiers(self) -> list[tuple[Tier, int]]:
        """The sandboxes that submissions ran in, and how many ran in each."""
        used = Counter(entry.result.tier for entry in self.entries if entry.result.tier)
        return [(self.lab.tier(name), count) for name, count in sorted(used.items())]

    def of(self, state: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.state == state]

    def standings(self) -> list[Standing]:
        """One row a student, in order.

        Of several submissions the one counts that ran. Where two ran and earned different points, or one is not
        graded, nobody but the instructor can say which counts: there is no score.
        """
        by_student: dict[str, list[Entry]] = {}
        for entry in self.entries:
            by_student.setdefault(entry.result.student, []).append(entry)
        handed_in = [
            replace(self._standing(student, entries), files=tuple(entry.result.file for entry in entries))
            for student, entries in by_student.items()
        ]
        zero = 0.0 if self.classroom.missing_is_zero else None
        missing = [Standing(each.student_id, zero, "nothing", listed=each) for each in self.missing()]
        return [self._settled(standing) for standing in (*handed_in, *missing)]

    def missing(self) -> list[Student]:
        """Those on the roster who handed in nothing."""
        there = {each.student_id for each in self.listed.values()}
        return [each for each in self.classroom.roster if each.student_id not in there]

    def _settled(self, standing: Standing) -> Standing:
        """After the late rule, or as an override says."""
        student = standing.listed or self.listed.get(standing.student)
        by_hand = next((each for each in self.classroom.overrides if _is_total(each, standing.student, student)), None)
        if by_hand:
            said = f"Your instructor set the score to {amount(by_hand.points)}" + _because(by_hand)
            return replace(standing, score=by_hand.points, raw=by_hand.points, torn=False, said=said, listed=student)
        found = replace(standing, raw=standing.score, listed=student)
        days = self.classroom.days_late(standing.student, student)
        if not days or not self.classroom.late or standing.score is None or not standing.files:
            return found
        deducted = standing.score * self.classroom.late.percent(days) / 100
        said = self.classroom.late.words(days)
        return replace(found, score=standing.score - deducted, deducted=deducted, said=said)

    def _standing(self, student: str, entries: list[Entry]) -> Standing:
        tried = [entry for entry in entries if entry.state != REJECTED]
        if not tried:
            return Standing(student, 0.0 if self.zero_rejected else None, f"rejected: {entries[0].result.reason}")
        waiting = next((entry for entry in tried if entry.unsettled), None)
        if waiting:
            return Standing(student, None, f"not graded: {waiting.unsettled}")
        scores = {entry.result.points for entry in tried}
        if len(scores) > 1:
            files = ", ".join(f"{entry.result.file}: {amount(entry.result.points)}" for entry in tried)
            return Standing(student, None, f"{len(tried)} submissions with different points ({files})", torn=True)
        return Standing(student, scores.pop())


@dataclass(frozen=True)
class Made:
    """What a format gives: files by their path in the results folder, and what the instructor must be told."""

    files: Mapping[str, bytes]
    told: tuple[Told, ...] = ()


def gather(
    results: Iterable[Result],
    lab: LabInfo,
    *,
    told: Iterable[Told] = (),
    classroom: Classroom | None = None,
    **others: Any,
) -> Material:
    """The results as material, sorted by student and file; of several for one file the last counts."""
    classroom = classroom or Classroom()
    last: dict[tuple[str, str], Result] = {}
    for result in results:
        last[result.student, result.file] = result
    listed_as, more = _on_the_roster(last, classroom)
    last = {key: _with_overrides(result, classroom, listed_as.get(result.student)) for key, result in last.items()}
    names = stems(last)
    entries = tuple(Entry(result, names[key], why_unsettled(result, lab)) for key, result in sorted(last.items()))
    material = Material(lab, entries, classroom=classroom, listed=listed_as, **others)
    return replace(material, told=(*told, *_told(entries), *more, *_about_the_class(material)))


def _on_the_roster(results: Iterable[tuple[str, str]], classroom: Classroom) -> tuple[dict[str, Student], list[Told]]:
    """Which student is which row of the roster, and who is on none."""
    if not classroom.roster:
        return {}, []
    files: dict[str, list[str]] = {}
    for student, file in sorted(results):
        files.setdefault(student, []).append(file)
    found = match(
        [each.person for each in classroom.roster], [Standing(s, None, files=tuple(f)) for s, f in files.items()]
    )
    listed_as = {student.student: classroom.roster[row] for row, student in found.rows.items()}
    lost = [student for student in files if student not in listed_as]
    told = [Told(f"NOT ON THE ROSTER, or unclear who it is: {listed(lost, 1000)}", loud=True)] if lost else []
    return listed_as, told


def _about_the_class(material: Material) -> Iterable[Told]:
    classroom, missing = material.classroom, material.missing()
    if classroom.unused:
        used = ", ".join(each.name for each in fields(Student))
        yield Told(f"columns of the roster that aren't used: {listed(classroom.unused)}. Those that are: {used}")
    if missing:
        names = listed([each.student_id for each in missing], 1000)
        yield Told(f"{len(missing):,} of {len(classroom.roster):,} on the roster handed in nothing: {names}")
    students = sorted({entry.result.student for entry in material.entries})
    known = {name for each in students for name in _names(each, material.listed.get(each))}
    known |= {folded(each.student_id) for each in classroom.roster}
    cells = {TOTAL, *(part.cell for part in material.lab.parts)}
    for each in classroom.overrides:
        if folded(each.student) not in known or each.part not in cells:
            yield Told(f"{OVERRIDES}: there is no {one_line(each.student, 80)} with {one_line(each.part)}", loud=True)
    if classroom.late:
        unknown = [each for each in students if classroom.days_late(each, material.listed.get(each)) is None]
        if unknown:
            whose = "anyone" if unknown == students else listed(unknown, 1000)
            yield Told(f"no submission time is known for {whose}, so no points are deducted for lateness", loud=True)


def _names(student: str, on_roster: Student | None) -> set[str]:
    others = (on_roster.student_id, on_roster.email) if on_roster else ()
    return {folded(name) for name in (student, *others) if name}


def _is_total(override: Override, student: str, on_roster: Student | None) -> bool:
    return override.part == TOTAL and folded(override.student) in _names(student, on_roster)


def _because(override: Override) -> str:
    return f": {one_line(override.why)}" if override.why else "."


def _with_overrides(result: Result, classroom: Classroom, on_roster: Student | None) -> Result:
    """The result with the points of single cells as the instructor set them."""
    names = _names(result.student, on_roster)
    by_cell = {each.part: each for each in classroom.overrides if folded(each.student) in names}

    def mark(given: Mark) -> Mark:
        override = by_cell.get(given.cell)
        if override is None:
            return given
        why = "Your instructor set these points" + _because(override)
        return replace(given, points=override.points, outcome=OVERRIDDEN, mistake=None, why=why)

    return replace(result, marks=tuple(map(mark, result.marks)))


def why_unsettled(result: Result, lab: LabInfo | None = None) -> str:
    """Why a result's points must not be told; "" where they may.

    That is what the grader calls ungraded, and whatever else cannot be a verdict: a mark that was not judged, is
    missing, or has points that there are not.
    """
    if result.state == UNGRADED:
        return one_line(result.reason) or "the grader failed"
    if result.state not in STATES:
        return f"{one_line(result.state)!r} is no state of a submission"
    if result.state == REJECTED:
        return ""
    for mark in result.marks:
        if mark.outcome == "unjudged":
            return f"{mark.cell} was not judged" + (f": {one_line(mark.why)}" if mark.why else "")
        if not (math.isfinite(mark.points) and 0 <= mark.points <= mark.out_of):
            return f"{mark.cell} has {mark.points} of {mark.out_of} points"
    if lab is None:
        return ""
    there, known = [mark.cell for mark in result.marks], {part.cell: part for part in lab.parts}
    missing = [cell for cell in known if cell not in there]
    if missing:
        return f"there is no mark for {', '.join(missing)}"
    odd = [m.cell for m in result.marks if m.cell not in known or m.out_of != known[m.cell].points]
    odd += [cell for cell, times in Counter(there).items() if times > 1]
    return f"the marks for {', '.join(odd)} are not those of this lab" if odd else ""


def _told(entries: Sequence[Entry]) -> Iterable[Told]:
    files = Counter(entry.result.student for entry in entries)
    for student, count in files.items():
        if count > 1:
            yield Told(f"{one_line(student, 80)} handed in {plural(count, 'file')}: each is reported")
    renamed = [entry for entry in entries if entry.stem != entry.result.student]
    if renamed:
        yield Told(
            f"{plural(len(renamed), 'report')} can't have just the student's name: files.json says which file is whose"
        )
