"""moodle.csv: the grading worksheet of a Moodle assignment, with this lab's grades filled in and all else as it was.

Moodle offers "Download grading worksheet" and "Upload grading worksheet" where the assignment's feedback type "Offline
grading worksheet" is on (mod/assign/feedback/offline in Moodle's source). Rows are known by Identifier ("Participant
12345"), the number that also stands in the names of downloaded submissions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from helpers.grading.report.csv_files import read, written
from helpers.grading.report.material import Made, Material, Standing, Told
from helpers.grading.report.people import Matched, Person, match
from helpers.grading.report.words import amount, listed, one_line
from vgpu.base.words import plural

IDENTIFIER, NAME, GRADE, MODIFIED = "Identifier", "Full name", "Grade", "Last modified (grade)"
MAXIMUM, LOCKED = "Maximum Grade", "Grade can be changed"
KEYS = ("Email address", "ID number", "Username")
HOW = "Download it from Moodle in English: View all submissions, Grading action, Download grading worksheet"


def moodle(material: Material) -> Made:
    """The worksheet filled, or nothing where none is given; raises ValueError for a file that is no worksheet."""
    template = material.templates.get("moodle")
    if template is None:
        return Made({})
    rows = [row for row in read(template) if row]
    head = [cell.strip() for cell in rows[0]] if rows else []
    if lacking := [name for name in (IDENTIFIER, GRADE, MODIFIED) if name not in head]:
        raise ValueError(f"the Moodle worksheet lacks {listed(lacking)}, without which Moodle doesn't take it. {HOW}")
    body = rows[1:]
    short = next((row for row in body if len(row) < len(head)), None)
    if short is not None:
        raise ValueError(f"the Moodle worksheet's row {one_line(short[0], 60)!r} is shorter than its header")
    standings = material.standings()
    found = match([_person(head, row) for row in body], standings)
    locked, filled = [], 0
    for index, standing in sorted(found.rows.items()):
        if standing.score is None:
            continue
        if _cell(head, body[index], LOCKED).casefold() == "no":
            locked.append(standing.student)
            continue
        body[index][head.index(GRADE)] = amount(standing.score)
        filled += 1
    told = (*_told(head, body, found, standings, material), *_about_locked(locked))
    told = (*told, Told(f"Moodle: {plural(filled, 'grade')} filled in"))
    return Made({"moodle.csv": written(rows, template) if filled else template}, told)


def _cell(head: Sequence[str], row: Sequence[str], heading: str) -> str:
    return row[head.index(heading)].strip() if heading in head else ""


def _person(head: Sequence[str], row: Sequence[str]) -> Person:
    number = re.search(r"\d+$", _cell(head, row, IDENTIFIER))
    return Person(
        tuple(_cell(head, row, key) for key in KEYS), _cell(head, row, NAME), number.group() if number else ""
    )


def _told(
    head: Sequence[str],
    body: Sequence[Sequence[str]],
    found: Matched,
    standings: Sequence[Standing],
    material: Material,
) -> Iterator[Told]:
    for standing, rows in found.unclear:
        name = one_line(standing.student, 80)
        yield Told(f"Moodle: {name} could be any of {rows} rows: none is filled", loud=True)
    for index, claimed in found.claimed.items():
        who = listed([each.student for each in claimed])
        yield Told(f"Moodle: {who} are all {one_line(_cell(head, body[index], NAME), 80)}: not filled", loud=True)
    done = {standing.student for standing in found.rows.values()}
    lost = [standing.student for standing in standings if standing.student not in done]
    if lost:
        yield Told(f"Moodle: NOT IN THE WORKSHEET, so without a grade there: {listed(lost, 1000)}", loud=True)
    most = {_cell(head, row, MAXIMUM).replace(",", ".") for row in body} - {""}
    if any(float(each) != material.lab.out_of for each in most if re.fullmatch(r"\d+(\.\d+)?", each)):
        points = amount(material.lab.out_of)
        yield Told(f"Moodle: the maximum grade isn't the lab's {points}: grades are written as they are", loud=True)


def _about_locked(locked: Sequence[str]) -> Iterator[Told]:
    if locked:
        yield Told(f"Moodle: locked there, left as they were: {listed(locked)}")
