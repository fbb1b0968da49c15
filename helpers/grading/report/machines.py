"""What other programs read: Gradescope's JSON and JUnit's XML."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter

from helpers.grading.report.files import as_json
from helpers.grading.report.lab import Part
from helpers.grading.report.material import Entry, Made, Material
from helpers.grading.report.verdicts import VERDICTS, what_for
from helpers.grading.report.words import first_line, one_line, plain
from helpers.grading.results import REJECTED, STUDENT_FAULT, Mark


def gradescope(material: Material) -> Made:
    """gradescope/STUDENT.json: what an autograder leaves in /autograder/results/results.json, one a submission.

    The format is https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format. All texts are of format
    "text", which Gradescope escapes. A submission that is not graded gets no file: Gradescope then says that the
    autograder failed, which is so, and not 0 points. One that is rejected gets 0 points and the reason, for Gradescope
    wants a number and lets the student hand in again.
    """
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


def _test(mark: Mark, part: Part) -> dict:
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


def junit(material: Material) -> Made:
    """junit.xml: a test suite for each submission, a test case for each graded cell.

    As Jenkins' xunit plugin, GitLab and pytest's own junitxml have it: `failure` for what is not right, `error` for
    what is not graded. GitLab takes `classname` for the suite's name and ignores a second case of one classname and
    name, so both are unique. There are no times: a report says the same whenever it is written.
    """
    root = ElementTree.Element("testsuites", name=material.lab.name)
    total: Counter[str] = Counter()
    for entry in material.entries:
        suite, counts = _suite(entry, material)
        root.append(suite)
        total += counts
    for name in ("tests", "failures", "errors"):
        root.set(name, str(total[name]))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return Made({"junit.xml": text + b"\n"})


def _suite(entry: Entry, material: Material) -> tuple[ElementTree.Element, Counter[str]]:
    suite = ElementTree.Element("testsuite", name=one_line(entry.result.student))
    about = {"state": entry.state, "tier": entry.result.tier, "file": entry.result.file}
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in about.items():
        ElementTree.SubElement(properties, "property", name=name, value=one_line(value))
    counts: Counter[str] = Counter(tests=len(material.lab.parts))
    for part in material.lab.parts:
        case = ElementTree.SubElement(suite, "testcase", classname=f"{material.lab.name}.{entry.stem}", name=part.cell)
        found = _trouble(entry, part)
        if found is not None:
            kind, outcome, message, text = found
            trouble = ElementTree.SubElement(case, kind, type=outcome, message=message)
            trouble.text = text
            counts[f"{kind}s"] += 1
    for name in ("tests", "failures", "errors"):
        suite.set(name, str(counts[name]))
    suite.set("skipped", "0")
    return suite, counts


def _trouble(entry: Entry, part: Part) -> tuple[str, str, str, str] | None:
    """Element, type, message and text for a case that is not right."""
    if entry.unsettled:
        return "error", "ungraded", f"not graded: {first_line(entry.unsettled)}", plain(entry.unsettled)
    if entry.state == REJECTED:
        return "failure", "rejected", f"rejected: {first_line(entry.result.reason)}", plain(entry.result.reason)
    mark = entry.marks[part.cell]
    if mark.outcome == "right":
        return None
    said = one_line(mark.mistake or "") or first_line(mark.why)
    message = ": ".join(filter(None, [VERDICTS[mark.outcome][1], said]))
    return "failure", mark.outcome, message, plain(mark.why)
