"""gradebook.csv with the columns of nbgrader's exporter (nbgrader/plugins/export.py, version 0.9.6), and seconds.csv.

Differs from nbgrader's in two things: a field with a comma is quoted, and whoever has no score has an empty field,
where nbgrader writes 0.0.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable

from helpers.grading.report.material import Made, Material, Told
from helpers.grading.report.words import cell, one_line

COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)
"""Without a roster and a due date, names, e-mail addresses and dates stay empty."""
FROM_THE_ROSTER = ("student_id", "last_name", "first_name", "email")


def as_csv(rows: Iterable[Iterable[str | float | None]]) -> bytes:
    """A CSV file without formulas."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([cell(value) for value in row] for row in rows)
    return out.getvalue().encode()


def gradebook(material: Material) -> Made:
    """One row a student; no score, and never 0, for whoever was not graded or whose submission was rejected."""
    rows: list[Iterable] = [COLUMNS]
    told = []
    standings = material.standings()
    alike = Counter(cell(standing.student) for standing in standings)
    for name, count in alike.items():
        if count > 1:  # whoever reads the file would give one the score of another
            told.append(Told(f"no score for {one_line(name, 80)}: {count} students are called so", loud=True))
    for standing in standings:
        score = standing.score if alike[cell(standing.student)] == 1 else None
        known = {"assignment": material.lab.name, "student_id": standing.student, "max_score": material.lab.out_of}
        known |= {"duedate": material.classroom.due, "timestamp": material.classroom.times.get(standing.student)}
        if standing.listed:
            known |= {name: getattr(standing.listed, name) for name in FROM_THE_ROSTER}
        if score is None:
            said = f"no score for {one_line(standing.student, 80)}, who handed in {one_line(standing.reason, 200)}"
            told += [Told(f"{said}: take out all but one", loud=True)] if standing.torn else []
        else:
            known |= {"raw_score": standing.raw, "late_submission_penalty": standing.deducted, "score": score}
        rows.append([known.get(column) for column in COLUMNS])
    return Made({"gradebook.csv": as_csv(rows)}, tuple(told))


def seconds(material: Material) -> Made:
    """seconds.csv: how long each submission took, then its cells, the slowest first.

    The only report that depends on a clock: when a class is graded again, this file differs and no other.
    """
    rows: list[Iterable] = [("student", "file", "cell", "outcome", "seconds")]
    for entry in sorted(material.entries, key=lambda entry: (-entry.result.seconds, entry.result.student)):
        result = entry.result
        rows.append((result.student, result.file, "", entry.state, result.seconds))
        for mark in sorted(result.marks, key=lambda mark: (-mark.seconds, mark.cell)):
            rows.append((result.student, result.file, mark.cell, mark.outcome, mark.seconds))
    return Made({"seconds.csv": as_csv(rows)})
