"""How long and how much: what one submission may take of a machine, and of an instructor's patience."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from helpers.checking.evidence import MOST_EVIDENCE
from helpers.grading.sandbox import Limits
from helpers.grading.sandbox.meter import BACKSTOP


@dataclass(frozen=True)
class Policy:
    """Limits of one submission; times in seconds, counted as `sandbox.meter` counts them.

    `cell_seconds` is for one cell, `judge_seconds` for judging one exercise, `whole_seconds` for all of it, cells,
    replays and judging together; `deaths` is how often its kernel may die before the rest is left; `evidence_bytes` how
    long the JSON of one probe may be; `limits` are the sandbox's, which end no process before `whole_seconds` are up.
    """

    cell_seconds: float = 20.0
    judge_seconds: float = 60.0
    whole_seconds: float = 180.0
    deaths: int = 5
    evidence_bytes: int = MOST_EVIDENCE
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.limits.cpu_seconds <= self.whole_seconds:
            object.__setattr__(self, "limits", replace(self.limits, cpu_seconds=math.ceil(2 * self.whole_seconds)))

    @property
    def hang_seconds(self) -> float:
        """After which a grader that has said nothing is taken for dead, by the clock."""
        return self.limits.start_seconds + BACKSTOP * (self.whole_seconds + self.judge_seconds)
