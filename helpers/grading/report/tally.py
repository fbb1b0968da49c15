"""What a class did, in numbers: points, parts, misconceptions, what stopped, answers that are the same."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass

from helpers.grading.report.lab import Part
from helpers.grading.report.material import Entry, Material
from helpers.grading.report.words import first_line, gist, one_line
from helpers.grading.results import FAULTS

STOPPED = ("error", *FAULTS)
MOST_BARS = 12
_WIDTHS = (0.5, 1, 2, 5)


@dataclass(frozen=True)
class Bar:
    """How many submissions earned from `low` to below `high` points; the last bar of a row is full marks alone."""

    low: float
    high: float
    count: int


@dataclass(frozen=True)
class PartTally:
    """One part: how many of those that ran have it right, how many points it earned of those there were."""

    part: Part
    right: int
    of: int
    earned: float
    outcomes: tuple[tuple[str, int], ...]

    @property
    def share(self) -> float:
        return self.right / self.of if self.of else 0.0


@dataclass(frozen=True)
class MistakeTally:
    """One misconception in one exercise: how many students have it, and the words most of them were told."""

    exercise: str
    mistake: str
    students: int
    words: str


@dataclass(frozen=True)
class Spread:
    """The points of those that ran."""

    count: int
    mean: float
    median: float
    least: float
    most: float


def ran(material: Material) -> list[Entry]:
    return [entry for entry in material.entries if entry.ran]


def spread(material: Material) -> Spread | None:
    """Mean, median and ends; None when nothing ran."""
    points = [entry.result.points for entry in ran(material)]
    if not points:
        return None
    return Spread(len(points), statistics.fmean(points), statistics.median(points), min(points), max(points))


def histogram(material: Material) -> tuple[Bar, ...]:
    """Bars of equal width from 0 to the lab's points, at most `MOST_BARS`, full marks by themselves at the end."""
    most = material.lab.out_of
    points = [entry.result.points for entry in ran(material)]
    if not most or not points:
        return ()
    scale = 10.0 ** (math.floor(math.log10(most)) - 1)
    wide = next(w * s for s in (scale, 10 * scale) for w in _WIDTHS if most / (w * s) <= MOST_BARS - 1)
    count = math.ceil(most / wide - 1e-9)
    at = Counter(count if p >= most - 1e-9 else min(count - 1, int(p / wide + 1e-9)) for p in points)
    bars = [Bar(i * wide, min(most, (i + 1) * wide), at[i]) for i in range(count)]
    return (*bars, Bar(most, most, at[count]))


def parts(material: Material) -> list[PartTally]:
    """Every part of the lab, in its order."""
    found = []
    for part in material.lab.parts:
        marks = [entry.marks[part.cell] for entry in ran(material)]
        outcomes = Counter(mark.outcome for mark in marks)
        common = tuple(sorted(outcomes.items(), key=lambda pair: (-pair[1], pair[0])))
        found.append(PartTally(part, outcomes["right"], len(marks), sum(mark.points for mark in marks), common))
    return found


def mistakes(material: Material) -> list[MistakeTally]:
    """The commonest first, by exercise in the lab's order; a student counts once for each."""
    who: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    told: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for entry in ran(material):
        for mark in entry.marks.values():
            if mark.mistake and mark.outcome != "right":
                key = mark.exercise, one_line(mark.mistake)
                who[key].add((entry.result.student, entry.result.file))
                told[key][first_line(mark.why)] += 1
    order = {exercise: index for index, exercise in enumerate(material.lab.exercises())}
    found = [
        MistakeTally(exercise, mistake, len(students), min(told[exercise, mistake].items(), key=_commonest)[0])
        for (exercise, mistake), students in who.items()
    ]
    return sorted(found, key=lambda row: (order.get(row.exercise, len(order)), -row.students, row.mistake))


def stops(material: Material) -> list[tuple[Part, dict[str, int], str]]:
    """Cells in which something stopped: how often of which kind, and the message seen most often.

    Of an exercise's parts that stopped in the same way, only the first.
    """
    found: list[tuple[Part, dict[str, int], str]] = []
    for part in material.lab.parts:
        marks = [entry.marks[part.cell] for entry in ran(material)]
        stopped = [mark for mark in marks if mark.outcome in STOPPED]
        if stopped:
            counts = Counter(mark.outcome for mark in stopped)
            said = Counter(gist(mark.why) for mark in stopped if mark.why.strip())
            message = min(said.items(), key=_commonest)[0] if said else ""
            kinds = {kind: counts[kind] for kind in STOPPED if counts[kind]}
            if all((part.exercise, kinds, message) != (other.exercise, *rest) for other, *rest in found):
                found.append((part, kinds, message))
    return found


@dataclass(frozen=True)
class Equal:
    """Students whose answers to some exercises are the same."""

    exercises: tuple[str, ...]
    students: tuple[str, ...]


def same(material: Material) -> tuple[list[Equal], list[Equal], tuple[str, ...]]:
    """Who has the same answers as others; who has the reference's; who handed in the lab as handed out.

    Those with most exercises in common come first. An exercise as it was handed out is no answer.
    """
    prints = material.fingerprints
    order = list(material.lab.exercises())
    there = sorted({entry.result.student for entry in material.entries} & set(prints.students))
    tried = {student: {k: v for k, v in prints.students[student].items() if v and k in order} for student in there}
    answered = {
        student: {k: v for k, v in tries.items() if v != prints.starter.get(k)} for student, tries in tried.items()
    }
    by: dict[tuple[str, str], list[str]] = defaultdict(list)
    for student, answers in answered.items():
        for key, value in answers.items():
            by[key, value].append(student)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    copied: dict[str, list[str]] = defaultdict(list)
    for (key, value), students in by.items():
        if value == prints.reference.get(key):
            for student in students:
                copied[student].append(key)
        elif len(students) > 1:
            groups[tuple(students)].append(key)
    from_reference: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for student, keys in copied.items():
        from_reference[tuple(sorted(keys, key=order.index))].append(student)
    equal = [Equal(tuple(sorted(keys, key=order.index)), students) for students, keys in groups.items()]
    reference = [Equal(keys, tuple(students)) for keys, students in from_reference.items()]
    starter = tuple(s for s in there if tried[s] and not answered[s])
    return sorted(equal, key=_most_first), sorted(reference, key=_most_first), starter


def _most_first(equal: Equal) -> tuple:
    return -len(equal.exercises), -len(equal.students), equal.students, equal.exercises


def _commonest(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]
