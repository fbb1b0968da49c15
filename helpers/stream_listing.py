"""What a recording shows of itself, whether the virtual GPU or a real one has run it: one line an operation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from helpers.stream_spans import table


class Row(NamedTuple):
    """An operation as it is listed: its stream's name, kind and label, and whether the host waits for its end."""

    stream: str
    kind: str
    label: str
    waits: bool = False


class Listed(ABC):
    """Printed as text and as a table from `rows()`, the operations in the program's order."""

    @abstractmethod
    def rows(self) -> list[Row]:
        """The operations in the program's order."""

    def __len__(self) -> int:
        return len(self.rows())

    def __repr__(self) -> str:
        rows = self.rows()
        return "\n".join(
            [f"Timeline of {len(rows)} operations", *(f"  {row.stream}: {row.label or row.kind}" for row in rows)]
        )

    def _repr_html_(self) -> str:
        rows = [(row.stream, row.kind, row.label, "waits" if row.waits else "goes on") for row in self.rows()]
        return table("Recorded, in the program's order", ("stream", "kind", "operation", "host"), rows)
