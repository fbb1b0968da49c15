"""canvas.csv: the gradebook that Canvas exported, with this assignment's column filled and all else as it was.

The format is that of Canvas's own exporter and importer (instructure/canvas-lms, lib/gradebook_exporter.rb and
lib/gradebook_importer.rb): a header that begins with Student, or LastName and FirstName, then ID, SIS User ID, SIS
Login ID and Section; assignments are headed by their title and number in brackets; a row of remarks on posting may
come next, then the row of Points Possible, then a row a student.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from helpers.grading.names import platform_number
from helpers.grading.report.material import Made, Material, Standing, Told
from helpers.grading.report.words import amount, listed, one_line
from helpers.vgpu.base.words import plural

KEYS = ("SIS Login ID", "SIS User ID", "ID")
"""Columns by which a student is known, before the name, the surest first."""
TEST_STUDENT = "Student, Test"
KEPT = ("N/A", "EX")
"""Grades that say that there is nothing to grade: not assigned, excused."""
_REMARK = re.compile(r"\s*(muted|manual posting.*)?\s*", re.IGNORECASE)
_NUMBER = re.compile(r"(.*\S)\s*\((\d+)\)")


BOM = "\ufeff"


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
    if material.template is None:
        return Made({})
    titles = (material.column,) if material.column else (material.lab.title, material.lab.name)
    try:
        template = find(material.template, titles)
    except ValueError as problem:
        raise ValueError(f"the Canvas gradebook cannot be filled: {problem}") from None
    standings = material.standings()
    matched, told = match(template, standings)
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
    data = _written(template.rows, material.template) if filled else material.template
    return Made({"canvas.csv": data}, tuple(told))


def read(data: bytes) -> list[list[str]]:
    """The rows of a CSV file with commas or semicolons; raises ValueError for what is none.

    Bytes that are no UTF-8 become halves of surrogate pairs, and the same bytes when they are written.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data:
        raise ValueError("it is not UTF-8; save it as CSV UTF-8")
    text = data.decode(errors="surrogateescape").removeprefix(BOM)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=_separator(data), strict=True))
    except csv.Error as problem:
        raise ValueError(f"its fields cannot be told apart, see to its quotes: {problem}") from None


def _separator(data: bytes) -> str:
    head = data.partition(b"\n")[0]
    return ";" if head.count(b";") > head.count(b",") else ","


def _written(rows: list[list[str]], like: bytes) -> bytes:
    """The rows as a file with the separator, the line ends and the byte order mark of another."""
    out = io.StringIO()
    end = "\r\n" if b"\r\n" in like else "\n"
    csv.writer(out, delimiter=_separator(like), lineterminator=end).writerows(rows)
    bom = BOM if like.startswith(BOM.encode()) else ""
    return (bom + out.getvalue()).encode(errors="surrogateescape")


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


def match(template: Template, standings: Iterable[Standing]) -> tuple[dict[int, Standing], list[Told]]:
    """Which row is whose, and who could be meant by several; each row has one student at most."""
    places: list[dict[str, set[int]]] = [{} for _ in (*KEYS, "name")]
    run_together: dict[str, set[int]] = {}
    for index, row in enumerate(template.students):
        for table, heading in zip(places, KEYS, strict=False):
            table.setdefault(_folded(template.text(row, heading)), set()).add(index)
        for name in _spellings(template.name(row)):
            places[-1].setdefault(name, set()).add(index)
        run_together.setdefault(_run_together(template.name(row)), set()).add(index)
    claims: dict[int, list[Standing]] = {}
    told: list[Told] = []
    for standing in standings:
        wanted = _folded(standing.student)
        names = set(_spellings(standing.student))
        rows = next((table[wanted] for table in places[:-1] if wanted and wanted in table), None)
        rows = rows or set().union(*(places[-1].get(name, set()) for name in names))
        rows = rows or _downloaded(standing, run_together, places[KEYS.index("ID")])
        if len(rows) == 1:
            claims.setdefault(min(rows), []).append(standing)
        elif rows:
            name = one_line(standing.student, 80)
            told.append(Told(f"Canvas: {name} could be any of {len(rows)} rows: none is filled", loud=True))
    for index, claimed in sorted(claims.items()):
        if len(claimed) > 1:
            name, who = one_line(template.name(template.students[index]), 80), listed([s.student for s in claimed])
            told.append(Told(f"Canvas: {who} are all {name}: not filled", loud=True))
    return {index: claimed[0] for index, claimed in claims.items() if len(claimed) == 1}, told


def _downloaded(standing: Standing, names: dict[str, set[int]], ids: dict[str, set[int]]) -> set[int]:
    """The rows of a student who is called as in Canvas's download, liddellalice_12345_…, by name and number."""
    numbers = {number for file in standing.files if (number := platform_number(file))}
    student = standing.student
    for number in numbers:
        student = student.removesuffix(f"_{number}")
    rows = names.get(_run_together(student), set())
    by_number = set().union(*(ids.get(number, set()) for number in numbers))
    return rows & by_number or rows


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
    return _folded(title) in {_folded(heading), _folded(numbered.group(1)) if numbered else ""}


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _run_together(name: str) -> str:
    """Letters and digits of a name, without accents: Canvas leaves out all else where it names files."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", name).casefold() if sign.isalnum())


def _spellings(name: str) -> Iterator[str]:
    """A name as it is, and with its two parts in the other order."""
    folded = _folded(name)
    if folded:
        yield folded
    last, comma, first = folded.partition(",")
    if comma:
        yield f"{first.strip()} {last.strip()}".strip()
