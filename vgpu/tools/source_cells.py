"""Lines of source in HTML tables: long lines wrap, so nothing is cut on a narrow screen or in print.

Where that isn't enough, the table scrolls in its own box, and the text around it stays.
"""

from __future__ import annotations

from html import escape

HANGING = 2
"""Characters by which the rest of a wrapped line is indented."""
# Blanks matter in Python's source, and a cell would collapse them.
_LOOK = "white-space:pre-wrap;overflow-wrap:anywhere;background:transparent;color:inherit"
_NARROWEST = "min-width:14em"


def source_code(line: str) -> str:
    """One line of source as `<code>`, its blanks kept."""
    text = line.rstrip()
    further = len(text) - len(text.lstrip()) + HANGING
    hanging = f"display:block;{_NARROWEST};padding:0 0 0 {further}ch;text-indent:-{further}ch"
    return f'<code style="{_LOOK};{hanging}">{escape(text)}</code>'


def in_box(table: str) -> str:
    """An HTML table in a box that scrolls sideways."""
    return f'<div style="overflow-x:auto">{table}</div>'
