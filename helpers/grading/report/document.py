"""A report as data: sections of sentences, tables and drawings, rendered as HTML or as Markdown.

All texts are plain here; each renderer escapes them, so nobody who writes a report has to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from helpers.grading.report import page
from helpers.grading.report.words import escaped, markdown


@dataclass(frozen=True)
class Text:
    """A sentence or two; `loud` where the reader has to act."""

    text: str
    loud: bool = False


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str


@dataclass(frozen=True)
class Tiles:
    """Numbers with a word each: (number, word, loud)."""

    tiles: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True)
class Share:
    """A cell with a bar and its words."""

    share: float
    words: str


@dataclass(frozen=True)
class Link:
    """A cell that leads to a file beside the report."""

    text: str
    path: str


@dataclass(frozen=True)
class Table:
    """Rows of cells, each a text, a `Share` or a `Link`; `numbers` are columns set to the right."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str | Share | Link, ...], ...]
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Drawing:
    """SVG made of nothing that others wrote, and what it shows in words."""

    svg: str
    words: str


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it; `alarm` puts it into a frame."""

    title: str
    blocks: tuple[Text | Heading | Tiles | Table | Drawing, ...]
    alarm: bool = False


def as_html(title: str, subtitle: str, sections: Sequence[Section]) -> bytes:
    """One self-contained page."""
    body = [f'<header><p class="quiet">{escaped(subtitle)}</p><h1>{escaped(title)}</h1></header>']
    for section in sections:
        blocks = "\n".join(_HTML[type(block)](block) for block in section.blocks)
        kind = ' class="card alarm"' if section.alarm else ""
        body.append(f"<section{kind}><h2>{escaped(section.title)}</h2>\n{blocks}</section>")
    return page.page(title, "\n".join(body))


def as_markdown(title: str, subtitle: str, sections: Sequence[Section]) -> bytes:
    """The same for where HTML does not go."""
    lines = [f"# {markdown(title)}", "", markdown(subtitle), ""]
    for section in sections:
        lines += [f"## {markdown(section.title)}", ""]
        for block in section.blocks:
            lines += [_MARKDOWN[type(block)](block), ""]
    return ("\n".join(lines).rstrip() + "\n").encode()


BAD, ALARM = ' class="bad"', ' class="alarm"'


def _html_table(table: Table) -> str:
    rows = [[_html_cell(cell) for cell in row] for row in table.rows]
    return page.table(escaped(table.caption), [escaped(head) for head in table.heads], rows, numbers=table.numbers)


def _html_cell(cell: str | Share | Link) -> str:
    if isinstance(cell, Share):
        return f"{page.meter(cell.share, cell.words, 'share')}<span>{escaped(cell.words)}</span>"
    if isinstance(cell, Link):
        return f'<a href="{quote(cell.path)}">{page.name(cell.text)}</a>'
    return f"<bdi>{escaped(cell)}</bdi>"


def _html_tiles(tiles: Tiles) -> str:
    items = "".join(
        f"<li{ALARM if loud else ''}><b>{escaped(number)}</b>{escaped(word)}</li>" for number, word, loud in tiles.tiles
    )
    return f'<ul class="tiles">{items}</ul>'


_HTML = {
    Text: lambda text: f"<p{BAD if text.loud else ''}>{escaped(text.text, None)}</p>",
    Heading: lambda heading: f"<h3>{escaped(heading.text)}</h3>",
    Tiles: _html_tiles,
    Table: _html_table,
    Drawing: lambda drawing: f"<figure>{drawing.svg}<figcaption>{escaped(drawing.words)}</figcaption></figure>",
}


def _markdown_table(table: Table) -> str:
    rule = ["---:" if column in table.numbers else "---" for column in range(len(table.heads))]
    rows = [[markdown(head) for head in table.heads], rule, *([_markdown_cell(c) for c in row] for row in table.rows)]
    caption = f"{markdown(table.caption)}\n\n" if table.caption else ""
    return caption + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _markdown_cell(cell: str | Share | Link) -> str:
    if isinstance(cell, Share):
        return markdown(cell.words)
    if isinstance(cell, Link):
        return f"[{markdown(cell.text)}](<{quote(cell.path)}>)"
    return markdown(cell)


_MARKDOWN = {
    Text: lambda text: f"**{markdown(text.text, None)}**" if text.loud else markdown(text.text, None),
    Heading: lambda heading: f"### {markdown(heading.text)}",
    Tiles: lambda tiles: "\n".join(f"- {markdown(number)} {markdown(word)}" for number, word, _ in tiles.tiles),
    Table: _markdown_table,
    Drawing: lambda drawing: markdown(drawing.words),
}
