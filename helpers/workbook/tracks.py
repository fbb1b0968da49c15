"""Ways through the course: of each chapter the sections to read, and the weeks of a class.

`python -m helpers.workbook.tracks` has each chapter, and the page of contents, say what sections and tracks take.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.workbook import style
from helpers.workbook.chapters import PAGES
from helpers.workbook.sections import Section, rounded, said, sections, total

if TYPE_CHECKING:
    from nbformat import NotebookNode

FILE, WEEKS = "tracks.toml", "weeks"


@dataclass(frozen=True)
class Track:
    """A way through the course: for each chapter, by number, the titles of the sections to read."""

    chapters: dict[str, tuple[str, ...]]

    def of(self, number: str, cells: Sequence[NotebookNode]) -> tuple[Section, ...]:
        """Its sections of a chapter. Raises ValueError for a title that no section has."""
        known = {section.title: section for section in sections(cells)}
        if missing := [title for title in self.chapters[number] if title not in known]:
            raise ValueError(f"chapter {number} has no section {missing[0]!r}; it has {', '.join(known)}")
        return tuple(known[title] for title in self.chapters[number])

    def skipped(self, number: str, cells: Sequence[NotebookNode]) -> list[bool]:
        """For each cell of a chapter whether it belongs to a section that the track leaves out."""
        kept = {at for section in self.of(number, cells) for at in section.cells}
        begin = sections(cells)[0].cells.start
        return [at >= begin and at not in kept for at in range(len(cells))]


def tracks(folder: Path) -> dict[str, Track]:
    """The tracks that are listed in a folder of chapters, by name; none where there is no list."""
    return {
        name: Track({number: tuple(titles) for number, titles in row["chapters"].items()})
        for name, row in _listed(folder).items()
        if name != WEEKS
    }


def _listed(folder: Path) -> dict:
    path = folder / FILE
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def write(folder: Path) -> None:
    """Have each chapter, and the page of contents, say what its sections take."""
    import nbformat

    contents = (folder / style.CONTENTS).read_text(encoding="utf-8")
    for path in sorted(folder.glob(PAGES)):
        page = style.open_page(path)
        page.cells[0].source = said(page.cells)
        nbformat.write(page.notebook, path)
        row = rf"(\| \[[^|]*\]\({re.escape(path.name)}\) \| )[\d +]+ \|"
        contents = re.sub(row, rf"\g<1>{total(page.cells)} |", contents)
    for heading, table in tables(folder).items():
        begin = contents.index("\n|", contents.index(f"\n{heading}\n")) + 1
        contents = contents[:begin] + table + contents[contents.index("\n\n", begin) :]
    (folder / style.CONTENTS).write_text(contents, encoding="utf-8")


def tables(folder: Path) -> dict[str, str]:
    """The tables of the contents that list tracks, by the lines under which they stand."""
    pages = {path.name.partition("_")[0]: path for path in sorted(folder.glob(PAGES))}
    cells = {number: style.open_page(path).cells for number, path in pages.items()}
    fast = [
        f"| {_linked(pages[number])} | {rounded(sum(each.minutes for each in track.of(number, cells[number])))} "
        f"| {' · '.join(track.chapters[number])} |"
        for track in tracks(folder).values()
        for number in track.chapters
    ]
    weeks = [_week(number, week, folder, pages, cells) for number, week in enumerate(_listed(folder).get(WEEKS, ()), 1)]
    return {
        "### The fast track": "\n".join(["| chapter | minutes | sections |", "|---|---|---|", *fast]),
        "### A class of twelve weeks": "\n".join(
            ["| week | chapters | hours | lab | hours |", "|---|---|---|---|---|", *weeks]
        ),
    }


def _week(number: int, week: dict, folder: Path, pages: dict[str, Path], cells: dict[str, list]) -> str:
    """The row of a week: its chapters and the hours that their core takes, its lab and its hours."""
    (lab,) = (folder.parent / "labs").glob(f"lab{week['lab']}_*/*.ipynb")
    reading = sum(each.core for chapter in week["chapters"] for each in sections(cells[chapter])) / 60
    chapters = ", ".join(_linked(pages[chapter]) for chapter in week["chapters"])
    link = f"[{week['lab']}](../{lab.relative_to(folder.parent).as_posix()})"
    return f"| {number} | {chapters} | {reading:.1f} | {link} | {lab_minutes(lab) / 60:.1f} |"


def _linked(path: Path) -> str:
    return f"[{path.name.partition('_')[0]}]({path.name})"


def lab_minutes(path: Path) -> int:
    """What a lab says that it takes."""
    found = re.search(r"about (\d+) minutes", style.open_page(path).cells[0].source)
    assert found is not None, f"{path.name} says no minutes"
    return int(found[1])


if __name__ == "__main__":
    from helpers.workbook.command import project_folder

    write(project_folder() / "notebooks")
