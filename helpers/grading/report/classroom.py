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
from vgpu.base.words import plural

KEPT, OVERRIDES = "class.json", "overrides.csv"
TOTAL = "total"
"""The part of an override that sets a student's score as a whole."""
DAY = timedelta(days=1)
MOST_DAYS = 3650
WORDS = {
    str: "text in quotes",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "a section, [late]",
    datetime: "a date and time such as 2026-03-01T23:59:00+01:00",
}
"""What a setting of each type is called."""
SETTINGS = {"roster": (str,), "due": (datetime, str), "missing_is_zero": (bool,), "late": (dict,)}
LATE_SETTINGS = {"percent_per_day": (float, int), "free_days": (int,), "most_percent": (float, int)}


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
            days = getattr(self, name) or "0"
            if not (days.isdecimal() and len(days) < 10 and int(days) <= MOST_DAYS):
                raise ValueError(f"{self.student_id}: {name} is a whole number up to {MOST_DAYS:,}, not {days!r}")
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
    """See the module. `times`: when each student handed in, in ISO format, as far as the submissions say; `unused`: the
    roster's columns that aren't used."""

    roster: tuple[Student, ...] = ()
    due: str = ""
    missing_is_zero: bool = False
    late: LateRule | None = None
    overrides: tuple[Override, ...] = ()
    times: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()

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
    """A class from its `class.toml`; raises ValueError."""
    try:
        data = _checked(tomllib.loads(path.read_text(encoding="utf-8")), SETTINGS)
        late, roster, due = data.get("late"), data.get("roster", ""), data.get("due", "")
        due = due.isoformat() if isinstance(due, datetime) else due
        if due:
            moment(due, "due")
        if late is not None and "percent_per_day" not in _checked(late, LATE_SETTINGS, "[late] "):
            raise ValueError("[late] needs percent_per_day")
        rule = LateRule(**late) if late else None
        if rule and not due:
            raise ValueError("[late] needs `due`")
        people, unused = students((path.parent / roster).read_bytes()) if roster else ((), ())
    except OSError as problem:
        raise ValueError(f"{path}: {problem.filename} can't be read: {problem.strerror}") from None
    except ValueError as problem:
        raise ValueError(f"{path}: {problem}") from None
    return Classroom(people, due, data.get("missing_is_zero", False), rule, unused=unused)


def _checked(data: dict, known: Mapping[str, tuple[type, ...]], where: str = "") -> dict:
    """`data`, where each setting is known and of a type that it may have; raises ValueError."""
    for name, value in data.items():
        if name not in known:
            raise ValueError(f"{where}{name!r} is not a setting; there are {', '.join(known)}")
        if type(value) not in known[name]:
            raise ValueError(f"{where}{name} is {WORDS[known[name][0]]}, not {value!s}")
    return data


def students(data: bytes) -> tuple[tuple[Student, ...], tuple[str, ...]]:
    """The rows of a roster, and the columns that aren't used; raises ValueError."""
    head, rows = csv_files.records(data, "the roster")
    if "student_id" not in head:
        raise ValueError("the roster's first line needs a column student_id")
    known = {each.name for each in fields(Student)}
    nameless = next((row for row in rows if not row["student_id"]), None)
    if nameless:
        raise ValueError(f"the roster has a row without a student_id: {', '.join(filter(None, nameless.values()))}")
    found = [Student(**{name: cell for name, cell in row.items() if name in known}) for row in rows]
    twice = {each.student_id for each in found if sum(each.student_id == other.student_id for other in found) > 1}
    if twice:
        raise ValueError(f"the roster has {sorted(twice)[0]!r} twice")
    return tuple(found), tuple(name for name in head if name and name not in known)


def keep(folder: Path, classroom: Classroom) -> None:
    """Write everything but overrides, which are the instructor's own file; nothing where there is nothing to keep."""
    if replace(classroom, overrides=()) == Classroom():
        return
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
            unused = tuple(data.pop("unused", ()))
            found = Classroom(roster=roster, late=LateRule(**late) if late else None, unused=unused, **data)
        except (ValueError, KeyError, TypeError) as problem:
            raise ValueError(f"{folder / KEPT} can't be read ({problem}): give --class again") from None
    return replace(found, overrides=overrides(folder))


def overrides(folder: Path) -> tuple[Override, ...]:
    """The overrides of a results folder; raises ValueError that names the line."""
    path = folder / OVERRIDES
    if not path.is_file():
        return ()
    head, rows = csv_files.records(path.read_bytes(), str(path))
    if not {"student", "part", "points"} <= set(head):
        raise ValueError(f"{path}: its columns are student, part, points, why")
    found = []
    for number, row in enumerate(rows, 2):
        try:
            found.append(Override(row["student"], row["part"], float(row["points"]), row.get("why", "")))
        except (KeyError, ValueError) as problem:
            raise ValueError(f"{path}, row {number}: {problem}. Its columns are student, part, points, why") from None
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
