"""The time limit of a launch: seconds of the clock, minus those in which its threads waited for a CPU.

So a launch may take longer on a busy machine. Where the system doesn't say how long threads waited, the clock alone
decides.
"""

from __future__ import annotations

import contextlib
import os
import time

TASKS = "/proc/self/task"
NANO = 1e-9


def waits() -> dict[str, float]:
    """The seconds for which each thread of this process has waited for a CPU; empty where they are not known."""
    found = {}
    with contextlib.suppress(OSError):
        for thread in os.listdir(TASKS):
            with (
                contextlib.suppress(OSError, ValueError),
                open(f"{TASKS}/{thread}/schedstat", encoding="ascii") as file,
            ):
                found[thread] = int(file.read().split()[1]) * NANO
    return found


class Deadline:
    """`seconds` from now; it moves on while threads wait for a CPU.

    Waiting times are read at the first call of `passed`, and when the time is up: a short launch doesn't pay for them.
    """

    def __init__(self, seconds: float):
        self._seconds = seconds
        self._began = time.monotonic()
        self._until = self._began + seconds
        self._first: tuple[float, float, dict[str, float]] | None = None

    def passed(self) -> bool:
        now = time.monotonic()
        if self._first is None:
            self._first = now, time.process_time(), waits()
        if now < self._until:
            return False
        then, cpu, before = self._first
        waited = sum(wait - before.get(thread, 0.0) for thread, wait in waits().items())
        side_by_side = max(1.0, (time.process_time() - cpu + waited) / max(1e-9, now - then))
        self._until = self._began + self._seconds + waited / side_by_side
        return now >= self._until
