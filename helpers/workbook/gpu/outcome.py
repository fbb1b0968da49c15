"""What a part of `warpbook gpu` gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class NotRun(Exception):
    """A part can't run on this machine; the message says why, and what to do."""


@dataclass(frozen=True)
class Outcome:
    """A sentence that sums a part up, what failed (each in a line), and what was found, as JSON has it."""

    summary: str
    failed: tuple[str, ...] = ()
    found: Mapping[str, Any] = field(default_factory=dict)
