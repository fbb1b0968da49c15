"""canvas.csv: the gradebook that Canvas exported, with this assignment's column filled and all else as it was.

The format is that of Canvas's own exporter and importer (instructure/canvas-lms, lib/gradebook_exporter.rb and
lib/gradebook_importer.rb): a header that begins with Student, or LastName and FirstName, then ID, SIS User ID, SIS
Login ID and Section; assignments are headed by their title and number in brackets; a row of remarks on posting may
come next, then the row of Points Possible, then a row a student.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from helpers.grading.report.csv_files import read, written
from helpers.grading.report.material import Made, Material, Told
from helpers.grading.report.people import Matched, Person, folded, match
from helpers.grading.report.words import amount, listed, one_line
from vgpu.base.words import plural

KEYS = ("SIS Login ID", "SIS User ID", "ID")
"""Columns by which a student is known, before the name, the surest first."""
TEST_STUDENT = "Student, Test"
KEPT = ("N/A", "EX")
"""Grades that say that there is nothing to grade: not assigned, excused."""
_REMARK = re.compile(r"\s*(muted|manual posting.*)?\s*", re.IGNORECASE)
_NUMBER = re.compile(r"(.*\S)\s*\((\d+)\)")


@dataclass(frozen=True)
class Template:
    """What was found in an exported gradebook: its rows, of which some are students', and the assignment's column."""

    rows: list[list[str]]
    head: tuple[str, ...]
    column: int
    possible: str
    students: tuple[list[str], ...]

    def text(self, row: list[str], heading: str) -> str:
        return row[self.head.index(heading)].strip() if heading in self.head else ""

    def name(self, row: list[str]) -> str:
        """Last name first, as Canvas has it."""
        if "LastName" in self.head:
            return f"{self.text(row, 'LastName')}, {self.text(row, 'FirstName')}"
        return self.text(row, "Student")


def canvas(material: Material) -> Made:
    """The template filled, or nothing where there is no template; raises ValueError when it is none of Canvas's."""
    exported = material.templates.get("canvas")
    if exported is None:
        return Made({})
    titles = (material.column,) if material.column else (material.lab.title, material.lab.name)
    try:
        template = find(exported, titles)
    except ValueError as problem:
        raise ValueError(f"the Canvas gradebook cannot be filled: {problem}") from None
    standings = material.standings()
    found = match(_people(template), standings)
    matched, told = found.rows, list(_unmatched(template, found))
    kept, replaced, filled = [], [], 0
    for index, standing in sorted(matched.items()):
        row = template.students[index]
        before = row[template.column].strip()
        if standing.score is None:
            continue
        if before.upper() in KEPT:
            kept.append(standing.student)
            continue
        if before and before != amount(standing.score):
            replaced.append(standing.student)
        row[template.column] = amount(standing.score)
        filled += 1
    told += _more_told(template, material, kept, replaced)
    done = {standing.student for standing in matched.values()}
    lost = [s.student for s in standings if s.student not in done]
    if lost:
        told.append(Told(f"Canvas: NOT IN THE TEMPLATE, so without a grade there: {listed(lost, 1000)}", loud=True))
    without = [
        template.name(row)
        for index, row in enumerate(template.students)
        if index not in matched and template.name(row) != TEST_STUDENT
    ]
    if without:
        told.append(Told(f"Canvas: in the template, and no submission is theirs: {listed(without, 1000)}"))
    told.append(Told(f"Canvas: {plural(filled, 'score')} filled in, column {template.head[template.column]!r}"))
    data = written(template.rows, exported) if filled else exported
    return Made({"canvas.csv": data}, tuple(told))


def find(data: bytes, titles: Iterable[str]) -> Template:
    """The template in an exported file, for the assignment of one of these titles; raises ValueError."""
    table = read(data)
    rows = [row for row in table if any(field.strip() for field in row)]
    head = tuple(field.strip() for field in rows[0]) if rows else ()
    if not head or head[0] not in ("Student", "LastName") or "ID" not in head or "Section" not in head:
        raise ValueError(
            "its first line is not Student, ID, …, Section. Export it in Canvas: Gradebook, Export, "
            "Export Entire Gradebook"
        )
    first = head.index("Section") + 1
    titles = [title for title in titles if title]
    found = [i for i in range(first, len(head)) if any(_titled(head[i], title) for title in titles)]
    if len(found) != 1:
        there = listed([heading for heading in head[first:] if _NUMBER.fullmatch(heading)]) or "none"
        what = "several columns are" if found else "no column is"
        raise ValueError(f"{what} called {' or '.join(map(repr, titles))}; there are: {there}. Name one with --column")
    column = found[0]
    body = [row for row in rows[1:] if not all(_REMARK.fullmatch(field) for field in row)]
    short = next((row for row in body if len(row) <= column), None)
    if short is not None:
        raise ValueError(f"the row that begins with {one_line(short[0], 60)!r} is shorter than the header")
    points = next((row for row in body if "Points Possible" in row[0]), None)
    possible = points[column].strip() if points else ""
    if "read only" in possible:
        raise ValueError(f"column {head[column]!r} is read only: Canvas computes it")
    return Template(table, head, column, possible, tuple(row for row in body if row is not points))


def _people(template: Template) -> list[Person]:
    """The rows of students, as they may be identified."""
    return [
        Person(tuple(template.text(row, key) for key in KEYS), template.name(row), template.text(row, "ID"))
        for row in template.students
    ]


def _unmatched(template: Template, matched: Matched) -> Iterator[Told]:
    """Who could not be matched to one row."""
    for standing, rows in matched.unclear:
        name = one_line(standing.student, 80)
        yield Told(f"Canvas: {name} could be any of {rows} rows: none is filled", loud=True)
    for index, claimed in matched.claimed.items():
        name, who = one_line(template.name(template.students[index]), 80), listed([s.student for s in claimed])
        yield Told(f"Canvas: {who} are all {name}: not filled", loud=True)


def _more_told(template: Template, material: Material, kept: list[str], replaced: list[str]) -> Iterator[Told]:
    try:
        same = float(template.possible.replace(",", ".")) == material.lab.out_of
    except ValueError:
        same = not template.possible
    if not same:
        yield Told(
            f"Canvas: the column has {template.possible} points possible, the lab {amount(material.lab.out_of)}: "
            "scores are written as they are, not scaled",
            loud=True,
        )
    if kept:
        yield Told(f"Canvas: excused or not assigned, left as they were: {listed(kept)}")
    if replaced:
        yield Told(f"Canvas: had another score before, now replaced: {listed(replaced)}")


def _titled(heading: str, title: str) -> bool:
    numbered = _NUMBER.fullmatch(heading)
    return folded(title) in {folded(heading), folded(numbered.group(1)) if numbered else ""}
