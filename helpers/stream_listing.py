"""What a recording shows of itself, whether the virtual GPU or a real one has run it: one line an operation."""

from __future__ import annotations

from html import escape
from typing import NamedTuple


class Row(NamedTuple):
    """An operation as it is listed: its stream's name, kind and label, and whether the host waits for its end."""

    stream: str
    kind: str
    label: str
    waits: bool = False


class Listed:
    """Printed as text and as a table from `rows()`, the operations in the program's order."""

    def rows(self) -> list[Row]:
        """The operations in the program's order."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.rows())

    def __repr__(self) -> str:
        rows = self.rows()
        return "\n".join(
            [f"Timeline of {len(rows)} operations", *(f"  {row.stream}: {row.label or row.kind}" for row in rows)]
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(row.stream)}</td><td>{escape(row.kind)}</td>"
            f"<td>{escape(row.label)}</td><td>{'waits' if row.waits else ''}</td></tr>"
            for row in self.rows()
        )
        heads = "".join(f"<th scope='col'>{head}</th>" for head in ("stream", "kind", "operation", "the host"))
        return (
            f"<table><caption>Recorded, in the program's order</caption><thead><tr>{heads}</tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )
