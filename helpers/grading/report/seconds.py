"""seconds.csv: how long each submission and each cell took, the slowest first.

The only report that depends on a clock: when a class is graded again, this file differs and no other.
"""

from __future__ import annotations

import csv
import io

from helpers.grading.report.material import Made, Material
from helpers.grading.report.words import cell


def seconds(material: Material) -> Made:
    """One row a submission, then its cells."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("student", "file", "cell", "outcome", "seconds"))
    for entry in sorted(material.entries, key=lambda entry: (-entry.result.seconds, entry.result.student)):
        result = entry.result
        rows.writerow(map(cell, (result.student, result.file, "", entry.state, result.seconds)))
        for mark in sorted(result.marks, key=lambda mark: (-mark.seconds, mark.cell)):
            rows.writerow(map(cell, (result.student, result.file, mark.cell, mark.outcome, mark.seconds)))
    return Made({"seconds.csv": out.getvalue().encode()})
