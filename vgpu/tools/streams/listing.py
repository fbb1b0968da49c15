"""How recordings are shown, of the virtual GPU and of real ones: one line per operation."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from html import escape
from typing import NamedTuple, TypeVar

from vgpu.tools.streams.spans import table

T = TypeVar("T")


class ListedOperation(NamedTuple):
    """An operation as it is listed: its stream's name, kind and label, and whether the host waits for its end."""

    stream: str
    kind: str
    label: str
    waits: bool = False


class Listed(ABC):
    """Printed as text and as a table from `rows()`, the operations in the program's order."""

    @abstractmethod
    def rows(self) -> list[ListedOperation]:
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


class NumberedList(list[T]):
    """A list whose items are sentences: shown numbered, one per line; an empty one shows the sentence `none`."""

    def __init__(self, items: Iterable[T], none: str):
        super().__init__(items)
        self.none = none

    def __repr__(self) -> str:
        return "\n".join(f"{number}. {item}" for number, item in enumerate(self, start=1)) or self.none

    def _repr_html_(self) -> str:
        items = (re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(str(item))) for item in self)
        rows = "".join(f'<li style="margin-bottom:0.4em">{item}</li>' for item in items)
        return f'<ol style="max-width:760px">{rows}</ol>' if rows else f"<p>{escape(self.none)}</p>"
