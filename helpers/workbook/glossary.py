"""The glossary as data: its terms and their other forms, where prose uses them, and what a chapter has not linked.

It is Markdown and no notebook: JupyterLab follows a link such as `glossary.md#bank-conflict` to the term, but opens a
notebook at its top. `python -m helpers.workbook.glossary notebooks/05_shared_memory.ipynb` puts missing links in.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from helpers.workbook.markdown import anchor

FILE = "glossary.md"
STRAY = ("glossary.ipynb",)
"""Names under which links look for it by mistake."""
ORDINARY = frozenset(
    {
        "block",
        "branch",
        "broadcast",
        "counter",
        "device",
        "event",
        "footprint",
        "guard",
        "host",
        "launch",
        "mask",
        "profiler",
        "request",
        "scan",
        "speed-up",
        "texture",
        "vote",
        "wave",
    }
)
"""Terms that prose also uses in their everyday sense: only their other forms ask for a link."""


_ENTRY = re.compile(r"^### (.+)\n+(?:\*also: (.+)\*\n+)?((?:(?!#).+\n?)*)", re.MULTILINE)


@dataclass(frozen=True)
class Term:
    """One entry: its name, which is its heading, the other forms that prose uses, and what it says."""

    name: str
    forms: tuple[str, ...] = ()
    text: str = field(default="", compare=False)  # its first paragraph, in Markdown

    @property
    def anchor(self) -> str:
        """What stands behind the # of a link to it, in JupyterLab and on GitHub alike."""
        return anchor(self.name)


@dataclass(frozen=True)
class Use:
    """A term in a chapter's prose: the cell, from 1, and where in its source; whether it is a link to the entry."""

    term: Term
    cell: int
    start: int
    end: int
    linked: bool


def terms(markdown: str) -> tuple[Term, ...]:
    """The entries of a glossary: each heading `### term`, with the forms of an `*also: …*` line under it."""
    found = []
    for name, also, text in _ENTRY.findall(markdown):
        found.append(Term(name, tuple(form.strip() for form in also.split(",")) if also else (), text))
    return tuple(found)


def read(folder: Path) -> tuple[Term, ...]:
    """The entries of the glossary in a folder of notebooks; none when there is no glossary."""
    path = folder / FILE
    return terms(path.read_text(encoding="utf-8")) if path.is_file() else ()


# -- finding terms in prose -----------------------------------------------------------------------------

_NO_PROSE = (
    r"^(```|~~~).*?^\1",  # fenced code
    r"^## Links\n.*",  # what other pages are about
    r"^\|[^\n]*$",  # tables
    r"^#+ [^\n]*$",  # headings
    r"`[^`\n]*`",
    r"!\[[^\]]*\]\([^)]*\)",  # pictures
    r"\$[^$\n]+\$",
    r"<[^>]+>",
)
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)\)")


def _blank(source: str) -> str:
    """The source with all that is no prose replaced by spaces, so that places stay what they are."""
    for pattern in _NO_PROSE:
        source = re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), source, flags=re.MULTILINE | re.DOTALL)
    return source


@cache
def _pattern(entries: tuple[Term, ...]) -> tuple[re.Pattern, dict[str, Term]]:
    """One pattern for all forms of all terms, the longest first, and whose form each is.

    A form in capitals, such as SM, is looked for as it is written; any other in upper and lower case.
    """
    owner: dict[str, Term] = {}
    for term in entries:
        forms = list(term.forms)
        if term.name not in ORDINARY and not any(form.lower() == term.name for form in forms):
            forms.append(term.name)
        for form in forms:
            for ending in ("", "s") if not form.endswith("s") else ("",):
                owner.setdefault(form + ending, term)
    exact = [form for form in owner if sum(map(str.isupper, form)) > 1]
    owner |= {form.lower(): term for form, term in owner.items() if form not in exact}
    parts = [
        re.escape(form) if form in exact else f"(?i:{re.escape(form)})" for form in sorted(owner, key=len, reverse=True)
    ]
    return re.compile(rf"(?<![\w#./-])(?:{'|'.join(parts)})(?![\w]|[-.]\w)"), owner


def uses(sources: Sequence[tuple[int, str]], entries: tuple[Term, ...]) -> Iterator[Use]:
    """Every use of a term in Markdown, in reading order; `sources` are (cell number, source).

    The words of links that lead elsewhere are no use of a term, and neither are code, headings and tables.
    """
    if not entries:
        return
    pattern, owner = _pattern(entries)
    by_anchor = {term.anchor: term for term in entries}
    for number, source in sources:
        prose = _blank(source)
        found = []
        for link in _LINK.finditer(prose):
            file, _, anchor = link[2].partition("#")
            if file == FILE and anchor in by_anchor:
                found.append(Use(by_anchor[anchor], number, link.start(), link.end(), True))
        prose = _LINK.sub(lambda m: " " * len(m[0]), prose)
        for match in pattern.finditer(prose):
            term = owner.get(match[0]) or owner[match[0].lower()]
            found.append(Use(term, number, match.start(), match.end(), False))
        yield from sorted(found, key=lambda use: use.start)


def unlinked(sources: Sequence[tuple[int, str]], entries: tuple[Term, ...]) -> list[Use]:
    """The first use of each term that is not the link it should be."""
    seen: set[Term] = set()
    missing = []
    for use in uses(sources, entries):
        if use.term not in seen and not use.linked:
            missing.append(use)
        seen.add(use.term)
    return missing


def link(sources: Sequence[tuple[int, str]], entries: tuple[Term, ...]) -> dict[int, str]:
    """New sources, by cell number, for the cells in which a first use was not linked."""
    new = dict(sources)
    for use in reversed(unlinked(sources, entries)):  # from the end, so that earlier places stay what they are
        source = new[use.cell]
        words = source[use.start : use.end]
        new[use.cell] = f"{source[: use.start]}[{words}]({FILE}#{use.term.anchor}){source[use.end :]}"
    return {number: source for number, source in new.items() if source != dict(sources)[number]}


def main(paths: Sequence[str]) -> int:
    """Link the first uses in the notebooks at `paths`, and say how many there were."""
    import nbformat

    for path in map(Path, paths):
        notebook = nbformat.read(path, as_version=4)
        sources = []
        for number, cell in enumerate(notebook.cells, 1):
            if cell.cell_type == "markdown":
                for name in STRAY:
                    cell.source = re.sub(rf"\]\({re.escape(name)}(?=[#)])", f"]({FILE}", cell.source)
                sources.append((number, cell.source))
        entries = read(path.parent)
        for number, source in link(sources, entries).items():
            notebook.cells[number - 1].source = source
        nbformat.write(notebook, path)
        print(f"{path.name}: {len(unlinked(sources, entries))} links added")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
