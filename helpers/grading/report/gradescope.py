"""gradescope/STUDENT.json: what an autograder leaves in /autograder/results/results.json, one a submission.

The format is https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format. All texts are of format
"text", which Gradescope escapes. A submission that is not graded gets no file: Gradescope then says that the autograder
failed, which is so, and not 0 points. One that is rejected gets 0 points and the reason, for Gradescope wants a number
and lets the student hand in again.
"""

from __future__ import annotations

from helpers.grading.report.files import as_json
from helpers.grading.report.material import Entry, Made, Material
from helpers.grading.report.verdicts import VERDICTS, what_for
from helpers.grading.report.words import one_line, plain
from helpers.grading.results import REJECTED, STUDENT_FAULT


def gradescope(material: Material) -> Made:
    """A file for each submission that has a verdict."""
    settled = [entry for entry in material.entries if not entry.unsettled]
    files = {f"gradescope/{entry.stem}.json": as_json(_submission(entry, material)) for entry in settled}
    return Made(files)


def _submission(entry: Entry, material: Material) -> dict:
    rejected = entry.state == REJECTED
    return {
        "score": 0 if rejected else entry.points,
        "output": _about(entry, material),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [] if rejected else [_test(entry.marks[part.cell], part) for part in material.lab.parts],
        "extra_data": {"lab": material.lab.name, "state": entry.state, "tier": entry.result.tier},
    }


def _about(entry: Entry, material: Material) -> str:
    reason = one_line(entry.result.reason)
    if entry.state == REJECTED:
        return f"This could not be read as a submission to {material.lab.title}: {reason}. Nothing was run."
    if entry.state == STUDENT_FAULT:
        return f"The notebook did not run to its end: {reason}. What was earned before and after is kept."
    return f"{material.lab.title}: every cell was run and judged."


def _test(mark, part) -> dict:
    said = [
        VERDICTS[mark.outcome][1],
        f"What was seen: {one_line(mark.mistake)}" if mark.mistake else "",
        plain(mark.why),
    ]
    return {
        "name": f"{part.exercise}: {what_for(part)}",
        "score": mark.points,
        "max_score": mark.out_of,
        "status": "passed" if mark.outcome == "right" else "failed",
        "output": "\n".join(filter(None, said)),
        "output_format": "text",
        "visibility": "visible",
    }
