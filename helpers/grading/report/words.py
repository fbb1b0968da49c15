"""What is done to text that others wrote before it stands in a report: cleaned, shortened, escaped, defused."""

from __future__ import annotations

import re
from collections.abc import Sequence

import wcwidth

LONGEST, MOST_LINES = 6000, 80
"""Characters and lines of one explanation that are shown."""

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # operating system commands: titles, links
    r"|[\x1b\x9b][PX^_][^\x1b]*(?:\x1b\\)?"  # device control, private messages
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours and cursor movements
    r"|\x1b[ -/]*[0-~]?"
)
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Controls, halves of surrogate pairs, overrides of the reading direction, and what XML forbids.
_UNSHOWN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
# A spreadsheet takes a cell for a formula by its first sign, full-width ones included
# (https://owasp.org/www-community/attacks/CSV_Injection); some skip white space before it.
_FORMULA = re.compile("[\\s\ufeff\u200b-\u200f]*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
# Marks, tags, entities, tables and mathematics; what makes links of bare addresses; lists at the start of a line.
_MARKDOWN = re.compile(r"[#$&*<>@\[\\\]_`|~]|:(?=\S)|(?<=www)\.|^[-+=]|(?<=^\d)[.)]|(?<=^\d\d)[.)]", re.IGNORECASE)


def plain(text: str, *, longest: int = LONGEST, most_lines: int = MOST_LINES) -> str:
    """`text` with lines ended by \\n, without terminal colours and characters that cannot or must not be shown."""
    text = str(text)
    cut = len(text) - 4 * longest
    if cut > 0:  # before anything looks at each character
        text = text[: 4 * longest]
    text = _UNSHOWN.sub("\ufffd", _LINE_ENDS.sub("\n", _ESCAPES.sub("", text)))
    if len(text) > longest or cut > 0:
        more = max(cut, 0) + max(len(text) - longest, 0)
        text = f"{text[:longest]}\n… and {more:,} characters more"
    lines = text.split("\n")
    if len(lines) > most_lines:
        lines[most_lines - 1 :] = [f"… and {len(lines) - most_lines + 1:,} lines more"]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def one_line(text: str, longest: int | None = 300) -> str:
    """`text` as one cleaned line, not shortened where `longest` is None."""
    if longest is None:
        return " ".join(plain(text, longest=len(text) + 1, most_lines=len(text) + 1).split())
    words = " ".join(plain(text, longest=4 * longest).split())
    return words if len(words) <= longest else words[: longest - 1].rstrip() + "…"


def first_line(text: str, longest: int = 160) -> str:
    """The first line of `text` that says anything."""
    return one_line(next((line for line in plain(text).split("\n") if line.strip()), ""), longest)


def gist(text: str, longest: int = 160) -> str:
    """The line that says what happened: of a traceback the last, otherwise the first."""
    lines = [line for line in plain(text).split("\n") if line.strip()]
    return one_line(lines[-1], longest) if lines and "Traceback" in lines[0] else first_line(text, longest)


def markdown(line: str) -> str:
    """A clean line for Markdown in which nothing is markup, a link or a tag."""
    return _MARKDOWN.sub(lambda sign: "\\" + sign.group(), line)


def fenced(text: str) -> str:
    """Several lines for Markdown, within a fence longer than any in the text."""
    text = plain(text)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def cell(value: str | float | None) -> str:
    """One cell of a CSV file: a number stays a number, a text that a spreadsheet takes for a formula gets a quote."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return amount(value)
    text = one_line(value)
    return "'" + text if _FORMULA.match(text) or _FORMULA.match(value) else text


def amount(value: float) -> str:
    """Points without a trail of rounding: 7, 7.5, 0.3333."""
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def listed(names: Sequence[str], most: int = 20) -> str:
    """Names, which may have commas, in one line; the rest counted."""
    shown = "; ".join(one_line(name, 80) for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")


def padded(text: str, columns: int) -> str:
    """`text` in exactly so many columns of a terminal."""
    if wcwidth.width(text) > columns:
        text = wcwidth.clip(text, 0, columns - 1).rstrip() + "…"
    return wcwidth.ljust(text, columns)
