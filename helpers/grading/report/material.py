"""What every format is made of: the results in order, each with its file name and whether its points may be told."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from helpers.grading.report.files import stems
from helpers.grading.report.lab import LabInfo, Tier
from helpers.grading.report.words import amount, one_line
from helpers.grading.results import GRADED, REJECTED, STATES, STUDENT_FAULT, UNGRADED, Mark, Result
from helpers.vgpu.base.words import plural

ORDER = (UNGRADED, GRADED, STUDENT_FAULT, REJECTED)
"""States in the order in which they are told: first what needs doing."""
STATE_WORDS = {GRADED: "graded", STUDENT_FAULT: "at fault", REJECTED: "rejected", UNGRADED: "UNGRADED"}
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

    `torn` where several submissions disagree on it; `files` are all that the student handed in.
    """

    student: str
    score: float | None
    reason: str = ""
    torn: bool = False
    files: tuple[str, ...] = field(default=(), compare=False)


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
    template: bytes | None = None
    column: str = ""
    zero_rejected: bool = False
    told: tuple[Told, ...] = ()

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
        return [
            replace(self._standing(student, entries), files=tuple(entry.result.file for entry in entries))
            for student, entries in by_student.items()
        ]

    def _standing(self, student: str, entries: list[Entry]) -> Standing:
        tried = [entry for entry in entries if entry.state != REJECTED]
        if not tried:
            return Standing(student, 0.0 if self.zero_rejected else None, f"rejected: {entries[0].result.reason}")
        waiting = next((entry for entry in tried if entry.unsettled), None)
        if waiting:
            return Standing(student, None, f"not graded: {waiting.unsettled}")
        scores = {entry.points for entry in tried}
        if len(scores) > 1:
            files = ", ".join(f"{entry.result.file}: {amount(entry.points)}" for entry in tried)
            return Standing(student, None, f"{len(tried)} submissions with different points ({files})", torn=True)
        return Standing(student, scores.pop())


@dataclass(frozen=True)
class Made:
    """What a format gives: files by their path in the results folder, and what the instructor must be told."""

    files: Mapping[str, bytes]
    told: tuple[Told, ...] = ()


def gather(results: Iterable[Result], lab: LabInfo, *, told: Iterable[Told] = (), **others) -> Material:
    """The results as material, sorted by student and file; of several for one file the last counts."""
    last: dict[tuple[str, str], Result] = {}
    for result in results:
        last[result.student, result.file] = result
    names = stems(last)
    entries = tuple(Entry(result, names[key], why_unsettled(result, lab)) for key, result in sorted(last.items()))
    return Material(lab, entries, told=(*told, *_told(entries)), **others)


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
            f"{plural(len(renamed), 'name')} of students cannot be a file's name or could be taken for another's: "
            "files.json says which file is whose"
        )
