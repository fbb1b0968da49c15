"""How much time a job has taken: the time in which its processes ran or slept, not the time they waited for a CPU.

So a limit means the same on a busy machine as on an idle one. An endless loop uses up its CPU seconds; a cell that
sleeps uses up seconds of the clock; a cell that waits for a CPU uses nothing. Where the clock runs far ahead of what
was counted, the machine is too slow to say anything about the job, and that is an infrastructure fault.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from helpers.grading.sandbox import processes
from helpers.grading.sandbox.cgroups import Group
from helpers.grading.sandbox.faults import InfrastructureFault
from helpers.grading.sandbox.wire import Late

BACKSTOP = 20.0
"""How many times its limit a job may take by the clock, before the machine counts as too slow."""
SAMPLE_SECONDS = 0.1
NANO = 1e-9


class TooSlow(InfrastructureFault):
    """The job had too little of a CPU to say whether it would have ended in time."""


@dataclass(frozen=True)
class Reading:
    """What processes have had so far, in seconds.

    `cpu` includes processes that have ended; `waits` is how long each thread that lives has waited for a CPU, by its
    number; `ready` says whether one of them runs or waits for a CPU now.
    """

    cpu: float = 0.0
    waits: Mapping[int, float] = field(default_factory=dict)
    ready: bool = False

    def __add__(self, other: Reading) -> Reading:
        return Reading(self.cpu + other.cpu, {**self.waits, **other.waits}, self.ready or other.ready)


def counted(before: Reading, after: Reading, seconds: float) -> float:
    """How much of the `seconds` between two readings counts: CPU seconds, and seconds in which nothing was to run."""
    cpu = max(0.0, after.cpu - before.cpu)
    if before.ready or after.ready:  # whoever has ended since has taken its waits along
        return cpu
    waited = sum(max(0.0, wait - before.waits.get(thread, 0.0)) for thread, wait in after.waits.items())
    return max(cpu, seconds - waited)


def read(root: int, group: Group | None = None) -> Reading:
    """A reading of the process `root`, of all below it, and of what else is in the job's control group."""
    pids = group.pids() if group is not None else None
    if pids is None:
        pids = [root, *processes.descendants(root)] if root > 0 else []
    cpu = group.cpu_seconds() if group is not None else None
    waits: dict[int, float] = {}
    ready = False
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in map(int, os.listdir(f"/proc/{pid}/task")):
                with contextlib.suppress(OSError, ValueError, IndexError):
                    waits[thread] = _run_and_wait(f"/proc/{pid}/task/{thread}")[1]
                    ready = ready or _after_name(f"/proc/{pid}/task/{thread}/stat")[0] == "R"
    if cpu is None:
        cpu = sum(map(_cpu_seconds, pids))
    return Reading(cpu, waits, ready)


def _run_and_wait(folder: str) -> tuple[float, float]:
    """Seconds for which a thread ran, and waited for a CPU; zeros where Linux keeps no such statistics."""
    try:
        with open(f"{folder}/schedstat", encoding="ascii") as file:
            ran, waited, _ = file.read().split()
    except FileNotFoundError:
        return 0.0, 0.0
    return int(ran) * NANO, int(waited) * NANO


def _after_name(path: str) -> list[str]:
    """The fields of a stat file from the third on: the state comes first."""
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


def _cpu_seconds(pid: int) -> float:
    """CPU seconds of a process, and of its children that have ended and were waited for."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return sum(map(int, _after_name(f"/proc/{pid}/stat")[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _own() -> float:
    """Seconds for which this thread, the grader's, ran or waited for a CPU: meanwhile a job may have waited for it."""
    with contextlib.suppress(OSError, ValueError):
        return sum(_run_and_wait("/proc/thread-self"))
    return time.thread_time()


class Receives(Protocol):
    """What messages come from: `receive(seconds)` raises Late where none has come in that time."""

    def receive(self, seconds: float) -> dict: ...


class Allowance:
    """The time that one or more jobs may take together; `used` is how much of it they have taken.

    `sources` give readings of the jobs. More may be added on the way.
    """

    def __init__(
        self,
        seconds: float,
        sources: Iterable[Callable[[], Reading]] = (),
        clock: Callable[[], float] = time.monotonic,
        own: Callable[[], float] = _own,
        backstop: float = BACKSTOP,
    ):
        self.seconds, self.used, self._backstop = seconds, 0.0, backstop
        self._sources, self._clock, self._own = list(sources), clock, own
        self._began = clock()
        self._last = self._now()

    def add(self, source: Callable[[], Reading]) -> None:
        """Count another job from now on; what has passed since the last reading is dropped, as it was starting."""
        self._sources.append(source)
        self._last = self._now()

    def _now(self) -> tuple[float, float, Reading]:
        return self._clock(), self._own(), sum((source() for source in self._sources), Reading())

    def left(self) -> float:
        """The seconds that are left, 0.0 where none are; raises TooSlow."""
        now, own, reading = self._now()
        then, own_then, before = self._last
        self._last = now, own, reading
        self.used += counted(before, reading, max(0.0, now - then - (own - own_then)))
        if self.used >= self.seconds:
            return 0.0
        if (gone := now - self._began) > self._backstop * self.seconds:
            raise TooSlow(
                f"the machine is too busy: {gone:.0f} seconds have passed, and all but {self.used:.1f} of them went by "
                "waiting for a CPU. Use fewer --workers, or a machine that has less to do"
            )
        return self.seconds - self.used

    def part(self, seconds: float) -> Part:
        """At most so many seconds of what is left, counted together with the rest."""
        return Part(self, seconds)

    def receive(self, source: Receives) -> dict:
        """The next message; raises Late when the time is used up, TooSlow, and whatever `source` raises."""
        return _receive(self, source)


class Part:
    """A part of an allowance."""

    def __init__(self, whole: Allowance, seconds: float):
        self._whole, self._until = whole, whole.used + seconds

    def left(self) -> float:
        return max(0.0, min(self._whole.left(), self._until - self._whole.used))

    def receive(self, source: Receives) -> dict:
        return _receive(self, source)


def _receive(allowance: Allowance | Part, source: Receives) -> dict:
    while left := allowance.left():
        with contextlib.suppress(Late):
            return source.receive(min(left, SAMPLE_SECONDS))
    raise Late
