"""When a launch has taken too long: seconds of the clock, without those in which its threads waited for a CPU.

So a launch may take as long on a busy machine as on an idle one. Where Linux does not say how long threads waited, the
clock alone decides.
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

    How long they waited is looked at when it is asked for the first time, and once the time is up: a short launch does
    not pay for it.
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
