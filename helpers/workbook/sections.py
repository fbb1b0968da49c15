"""The sections of a chapter, what each takes, and what of it can be skipped.

Minutes are estimated by one rule for all chapters, since nobody has timed enough readers: so many words and lines of
code a minute, and so long for each prediction, exercise and explorer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from helpers.workbook import style
from helpers.workbook.markdown import anchor
from helpers.workbook.optional import MARK, optional
from helpers.workbook.run import EXERCISE, tags

if TYPE_CHECKING:
    from nbformat import NotebookNode

WORDS_A_MINUTE = 200
LINES_A_MINUTE = 12
MINUTES = {"predict": 1, EXERCISE: 7, "explorer": 2}
LAST = ("Summary", "Exercises", "Links")
"""What chapters end with, which is no section."""


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
    def core(self) -> float:
        """The minutes that can't be skipped."""
        return self.minutes - self.optional

    @property
    def link(self) -> str:
        """A link to its heading, by the id that JupyterLab and GitHub give it."""
        plain = self.title.removesuffix(MARK).strip()
        return f"[{plain}](#{anchor(self.title)})"


def sections(cells: Sequence[NotebookNode]) -> tuple[Section, ...]:
    """The sections of a chapter in order."""
    begins = [
        (number, title)
        for number, cell in enumerate(cells)
        if cell.cell_type == "markdown"
        for title in style.headings(cell.source, 2)
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
    core = rounded(sum(each.core for each in found))
    more = sum(each.optional for each in found)
    return f"{core} + {rounded(more)}" if more else str(core)


def listing(cells: Sequence[NotebookNode]) -> str:
    """The line of a chapter's first cell that lists its sections and their minutes."""
    between = "\N{NO-BREAK SPACE}· "  # so that no line begins with the dot
    return "**Sections:** " + between.join(f"{each.link} {_minutes(each)}" for each in sections(cells))


def _minutes(section: Section) -> str:
    core, more = (round(number) for number in (section.core, section.optional))
    if not section.optional:
        return str(max(1, core))
    return f"({max(1, more)})" if core == 0 else f"{core} + {max(1, more)}"


def said(cells: Sequence[NotebookNode]) -> str:
    """A chapter's first cell, in which minutes and sections are those of its cells."""
    source = re.sub(r"(\*\*Minutes:\*\* )\d+( \+ \d+)?", rf"\g<1>{total(cells)}", cells[0].source)
    source = re.sub(r"\n\n\*\*Sections:\*\* .*", "", source)
    return re.sub(r"(\*\*Minutes:\*\* .*)", lambda found: f"{found[1]}\n\n{listing(cells)}", source)
