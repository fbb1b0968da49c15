"""What an instructor knows about a class and no submission says: the roster, the due date, the late rule, overrides.

`class.toml` holds the first three. It is given to `warpbook grade` or `warpbook report` and kept in the results folder
as `class.json`, so that later reports apply it too:

    roster = "roster.csv"                # columns student_id, last_name, first_name, email; see Student for more
    due = 2026-03-01T23:59:00+01:00
    missing_is_zero = false              # whether students without a submission get 0 instead of an empty score

    [late]
    free_days = 1
    percent_per_day = 10
    most_percent = 50

`overrides.csv` in the results folder holds marks that were set by hand. They are applied whenever reports are written,
so grading again doesn't lose them.
"""

from __future__ import annotations

import csv
import io
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timedelta
from pathlib import Path

from helpers.grading.report import csv_files
from helpers.grading.report.files import as_json, put
from helpers.grading.report.people import Person
from helpers.grading.report.words import amount
from helpers.vgpu.base.words import plural

KEPT, OVERRIDES = "class.json", "overrides.csv"
TOTAL = "total"
"""The part of an override that sets a student's score as a whole."""
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Student:
    """One row of the roster. Only `student_id` is required.

    `handed_in`: when, in ISO format with an offset, where the submissions don't say; `late_days`: sets the number of
    late days instead; `extension_days`: moves the due date for this student.
    """

    student_id: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    handed_in: str = ""
    late_days: str = ""
    extension_days: str = ""

    def __post_init__(self) -> None:
        for name in ("late_days", "extension_days"):
            if not (getattr(self, name) or "0").isdecimal():
                raise ValueError(f"{self.student_id}: {name} is a whole number, not {getattr(self, name)!r}")
        if self.handed_in:
            moment(self.handed_in, f"{self.student_id}: handed_in")

    @property
    def person(self) -> Person:
        return Person((self.student_id, self.email), f"{self.last_name}, {self.first_name}".strip(", "))


@dataclass(frozen=True)
class LateRule:
    """`percent_per_day` of the points earned is deducted for each day started after `free_days`, up to a limit."""

    percent_per_day: float
    free_days: int = 0
    most_percent: float = 100.0

    def __post_init__(self) -> None:
        if not (0 <= self.percent_per_day <= 100 and 0 <= self.most_percent <= 100 and self.free_days >= 0):
            raise ValueError("[late] needs percentages from 0 to 100, and free_days of at least 0")

    def percent(self, days: int) -> float:
        return min(self.most_percent, self.percent_per_day * max(0, days - self.free_days))

    def words(self, days: int) -> str:
        """For the student."""
        free = f"{plural(self.free_days, 'day')} free, then " if self.free_days else ""
        rule = f"{free}{self.percent_per_day:g} % a day, {self.most_percent:g} % at most"
        return f"Handed in {plural(days, 'day')} late ({rule}): {self.percent(days):g} % of the points are deducted."


@dataclass(frozen=True)
class Override:
    """Points that an instructor set: of one graded cell, named by its id, or of the `TOTAL`."""

    student: str
    part: str
    points: float
    why: str = ""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.points) and self.points >= 0):
            raise ValueError(f"points are 0 or more, not {self.points}")


@dataclass(frozen=True)
class Classroom:
    """See the module. `times`: when each student handed in, in ISO format, as far as the submissions say."""

    roster: tuple[Student, ...] = ()
    due: str = ""
    missing_is_zero: bool = False
    late: LateRule | None = None
    overrides: tuple[Override, ...] = ()
    times: Mapping[str, str] = field(default_factory=dict)

    def days_late(self, name: str, student: Student | None) -> int | None:
        """Days started after the due date; None where nobody says when it was handed in."""
        if student and student.late_days:
            return int(student.late_days)
        time = (student.handed_in if student else "") or self.times.get(name, "")
        if not time or not self.due:
            return None
        due = moment(self.due, "due") + DAY * int(student.extension_days or 0 if student else 0)
        return max(0, math.ceil((moment(time, name) - due) / DAY))


def moment(text: str, what: str) -> datetime:
    """A point in time; raises ValueError where the offset from UTC is missing."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{what}: {text!r} isn't a date and time such as 2026-03-01T23:59:00+01:00") from None
    if found.tzinfo is None:
        raise ValueError(f"{what}: {text!r} needs its offset from UTC, as in 2026-03-01T23:59:00+01:00")
    return found


def read(path: Path) -> Classroom:
    """A class from its `class.toml`; raises ValueError or OSError."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        late, roster, due = data.pop("late", None), data.pop("roster", ""), data.pop("due", "")
        zero = data.pop("missing_is_zero", False)
        if data:
            raise ValueError(f"{sorted(data)[0]!r} is not a setting; there are roster, due, missing_is_zero and late")
        due = due.isoformat() if isinstance(due, datetime) else str(due)
        if due:
            moment(due, "due")
        rule = LateRule(**late) if late else None
        if rule and not due:
            raise ValueError("[late] needs `due`")
        people = students((path.parent / roster).read_bytes()) if roster else ()
    except (ValueError, TypeError, UnicodeDecodeError) as problem:
        raise ValueError(f"{path}: {problem}") from None
    return Classroom(people, due, bool(zero), rule)


def students(data: bytes) -> tuple[Student, ...]:
    """The rows of a roster; columns with other names are left out."""
    rows = [row for row in csv_files.read(data) if any(cell.strip() for cell in row)]
    head = [cell.strip().casefold().replace(" ", "_") for cell in rows[0]] if rows else []
    if "student_id" not in head:
        raise ValueError("the roster's first line needs a column student_id")
    known = {each.name for each in fields(Student)}
    found = []
    for row in rows[1:]:
        cells = {name: cell.strip() for name, cell in zip(head, row, strict=False) if name in known}
        if cells.get("student_id"):
            found.append(Student(**cells))
    twice = {each.student_id for each in found if sum(each.student_id == other.student_id for other in found) > 1}
    if twice:
        raise ValueError(f"the roster has {sorted(twice)[0]!r} twice")
    return tuple(found)


def keep(folder: Path, classroom: Classroom) -> None:
    """Write everything but overrides, which are the instructor's own file."""
    data = {**asdict(classroom), "times": dict(sorted(classroom.times.items()))}
    data.pop("overrides")
    put(folder / KEPT, as_json(data))


def kept(folder: Path) -> Classroom:
    """The class of a results folder, empty where none was given; raises ValueError."""
    found = Classroom()
    if (folder / KEPT).is_file():
        try:
            data = json.loads((folder / KEPT).read_bytes())
            roster = tuple(Student(**row) for row in data.pop("roster"))
            late = data.pop("late")
            found = Classroom(roster=roster, late=LateRule(**late) if late else None, **data)
        except (ValueError, KeyError, TypeError) as problem:
            raise ValueError(f"{folder / KEPT} can't be read ({problem}): give --class again") from None
    return replace(found, overrides=overrides(folder))


def overrides(folder: Path) -> tuple[Override, ...]:
    """The overrides of a results folder; raises ValueError that names the line."""
    path = folder / OVERRIDES
    if not path.is_file():
        return ()
    found = []
    rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline=""))
    for row in rows:
        try:
            found.append(Override(row["student"], row["part"].strip(), float(row["points"]), row.get("why") or ""))
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            words = f"{problem}. Its columns are student, part, points, why"
            raise ValueError(f"{path}, line {rows.line_num}: {words}") from None
    return tuple(found)


def add_override(folder: Path, override: Override) -> None:
    """Add an override to the folder's file; an earlier one for the same student and part is replaced."""
    same = (override.student, override.part)
    rows = [each for each in overrides(folder) if (each.student, each.part) != same]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([each.name for each in fields(Override)])
    writer.writerows([each.student, each.part, amount(each.points), each.why] for each in [*rows, override])
    put(folder / OVERRIDES, out.getvalue().encode())
