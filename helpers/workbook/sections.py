"""The sections of a chapter: what each takes, which can be skipped, and which of them a track asks for.

Minutes are estimated by one rule for all chapters, since nobody has timed enough readers: so many words and lines of
code a minute, and so long for each prediction, exercise and explorer.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.workbook import style
from helpers.workbook.chapters import PAGES
from helpers.workbook.markdown import unfenced
from helpers.workbook.optional import HEADING, MARK, optional
from helpers.workbook.run import EXERCISE, tags

if TYPE_CHECKING:
    from nbformat import NotebookNode

WORDS_A_MINUTE = 200
LINES_A_MINUTE = 12
MINUTES = {"predict": 1, EXERCISE: 7, "explorer": 2}
LAST = ("Summary", "Exercises", "Links")
"""What chapters end with, which is no section."""
TRACKS, CONTENTS = "tracks.toml", style.CONTENTS


@dataclass(frozen=True)
class Section:
    """What stands under one `## ` heading: its title, its cells, by number from 0, and the minutes that it takes.

    `optional`: those of its minutes that can be skipped.
    """

    title: str
    cells: range
    minutes: float
    optional: float

    @property
    def link(self) -> str:
        """A link to its heading, by the id that JupyterLab and GitHub give it."""
        plain = self.title.removesuffix(MARK).strip()
        return f"[{plain}](#{self.title.replace('`', '').replace(' ', '-')})"


def sections(cells: Sequence[NotebookNode]) -> tuple[Section, ...]:
    """The sections of a chapter in order."""
    begins = [
        (number, title)
        for number, cell in enumerate(cells)
        if cell.cell_type == "markdown"
        for marks, title in HEADING.findall(unfenced(cell.source))
        if len(marks) == len("##")
    ]
    skipped, taken = optional(cells), [minutes(cell) for cell in cells]
    found = []
    for (begin, title), (end, _) in pairwise([*begins, (len(cells), "")]):
        if not title.startswith(LAST):
            within = range(begin, end)
            whole = sum(taken[number] for number in within)
            found.append(Section(title, within, whole, sum(taken[number] for number in within if skipped[number])))
    return tuple(found)


def minutes(cell: NotebookNode) -> float:
    """How long a reader needs for a cell."""
    if cell.cell_type == "markdown":
        return style.words(cell.source) / WORDS_A_MINUTE
    kinds = [*tags(cell), *(["explorer"] if "widgets." in cell.source else [])]
    asked = sum(MINUTES.get(kind, 0) for kind in kinds)
    return asked or style.code_lines(cell.source) / LINES_A_MINUTE


def rounded(number: float) -> int:
    """Minutes as they are shown: to the nearest five."""
    return 5 * max(1, round(number / 5))


def total(cells: Sequence[NotebookNode]) -> str:
    """What a chapter takes, as it says itself: "125", or "125 + 40" where there are optional parts."""
    found = sections(cells)
    core = rounded(sum(each.minutes - each.optional for each in found))
    more = sum(each.optional for each in found)
    return f"{core} + {rounded(more)}" if more else str(core)


def listing(cells: Sequence[NotebookNode]) -> str:
    """The line of a chapter's first cell that lists its sections and their minutes."""
    return "**Sections:** " + " · ".join(f"{each.link} {_minutes(each)}" for each in sections(cells))


def _minutes(section: Section) -> str:
    core, more = (round(number) for number in (section.minutes - section.optional, section.optional))
    if not section.optional:
        return str(max(1, core))
    return f"({max(1, more)})" if core == 0 else f"{core} + {max(1, more)}"


def said(cells: Sequence[NotebookNode]) -> str:
    """A chapter's first cell, in which minutes and sections are those of its cells."""
    source = re.sub(r"(\*\*Minutes:\*\* )\d+( \+ \d+)?", rf"\g<1>{total(cells)}", cells[0].source)
    source = re.sub(r"\n\n\*\*Sections:\*\* .*", "", source)
    return re.sub(r"(\*\*Minutes:\*\* .*)", lambda found: f"{found[1]}\n\n{listing(cells)}", source)


def write(folder: Path) -> None:
    """Have each chapter, and the table of contents, say what its sections take."""
    import nbformat

    contents = (folder / CONTENTS).read_text(encoding="utf-8")
    for path in sorted(folder.glob(PAGES)):
        page = style.open_page(path)
        page.cells[0].source = said(page.cells)
        nbformat.write(page.notebook, path)
        row = rf"(\| \[[^|]*\]\({re.escape(path.name)}\) \| )[\d +]+ \|"
        contents = re.sub(row, rf"\g<1>{total(page.cells)} |", contents)
    (folder / CONTENTS).write_text(contents, encoding="utf-8")


# -- tracks -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Track:
    """A way through the course: for each chapter, by number, the titles of the sections to read."""

    title: str
    what: str
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
    if not (folder / TRACKS).is_file():
        return {}
    listed = tomllib.loads((folder / TRACKS).read_text(encoding="utf-8"))
    return {
        name: Track(row["title"], row["what"], {number: tuple(titles) for number, titles in row["chapters"].items()})
        for name, row in listed.items()
    }


if __name__ == "__main__":
    from helpers.workbook.command import project_folder

    write(project_folder() / "notebooks")
