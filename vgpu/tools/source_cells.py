"""Lines of source in HTML tables: a line that is longer than its cell goes on below, and a table keeps to its page.

So nothing is cut, on a narrow screen and in print too. Where not even that is enough, the table scrolls in a box of
its own, and what stands above and below it stays.
"""

from __future__ import annotations

from html import escape

HANGING = 2
"""Characters by which a line that goes on below is moved to the right of where it began."""
# Blanks matter in Python's source, and a cell would swallow them.
_LOOK = "white-space:pre-wrap;overflow-wrap:anywhere;background:transparent;color:inherit"
_NARROWEST = "min-width:14em"


def source_code(line: str) -> str:
    """One line of source as `<code>`, its blanks kept."""
    text = line.rstrip()
    further = len(text) - len(text.lstrip()) + HANGING
    hanging = f"display:block;{_NARROWEST};padding:0 0 0 {further}ch;text-indent:-{further}ch"
    return f'<code style="{_LOOK};{hanging}">{escape(text)}</code>'


def in_box(table: str) -> str:
    """An HTML table in a box of its own."""
    return f'<div style="overflow-x:auto">{table}</div>'
