"""`cupy.cuda.nvtx`: marks for NVIDIA's profilers; accepted and ignored, as no such profiler is watching."""

from __future__ import annotations

from itertools import count

available = False
_identifiers = count(1)


def Mark(message: str, id_color: int = -1) -> None:
    """A mark on the timeline."""


def MarkC(message: str, color: int = 0) -> None:
    """A mark with a colour."""


def RangePush(message: str, id_color: int = -1) -> None:
    """Begin a nested range."""


def RangePushC(message: str, color: int = 0) -> None:
    """Begin a nested range with a colour."""


def RangePop() -> None:
    """End the innermost range."""


def RangeStart(message: str, color: int = 0) -> int:
    """Begin a range; the number ends it."""
    return next(_identifiers)


def RangeEnd(range_id: int) -> None:
    """End a range."""
