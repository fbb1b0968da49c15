"""gradebook.csv with the columns of nbgrader's exporter (nbgrader/plugins/export.py, version 0.9.6).

Differs from nbgrader's in two things: a field with a comma is quoted, and whoever has no score has an empty field,
where nbgrader writes 0.0.
"""

from __future__ import annotations

import csv
import io
from collections import Counter

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
"""Those that a folder of submissions does not tell stay empty: dates, names and e-mail addresses."""


def gradebook(material: Material) -> Made:
    """One row a student; no score, and never 0, for whoever was not graded or whose submission was rejected."""
    out = io.StringIO()
    rows = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
    rows.writeheader()
    told = []
    standings = material.standings()
    alike = Counter(cell(standing.student) for standing in standings)
    for name, count in alike.items():
        if count > 1:  # whoever reads the file would give one the score of another
            told.append(Told(f"no score for {one_line(name, 80)}: {count} students are called so", loud=True))
    for standing in standings:
        score = standing.score if alike[cell(standing.student)] == 1 else None
        known = {"assignment": material.lab.name, "student_id": standing.student, "max_score": material.lab.out_of}
        if score is None:
            said = f"no score for {one_line(standing.student, 80)}, who handed in {one_line(standing.reason, 200)}"
            told += [Told(f"{said}: take out all but one", loud=True)] if standing.torn else []
        else:
            known |= {"raw_score": score, "late_submission_penalty": 0, "score": score}
        rows.writerow({column: cell(value) for column, value in known.items()})
    return Made({"gradebook.csv": out.getvalue().encode()}, tuple(told))
