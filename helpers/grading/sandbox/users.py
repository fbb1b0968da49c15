"""Who jobs are: an ordinary user without a name outside, and a learner inside."""

from __future__ import annotations

import os

NOBODY = 65534
LEARNER = 1000


def root(euid: int | None = None, uid_map: str | None = None) -> bool:
    """Whether this process is a root that can become nobody: in a namespace that knows one user only, 0 is an alias."""
    if (os.geteuid() if euid is None else euid) != 0:
        return False
    return any(first <= NOBODY < first + count for first, _, count in _ranges(uid_map))


def stuck_as_root(euid: int | None = None, uid_map: str | None = None) -> bool:
    """Whether this process is root outside of its namespace too, and cannot become nobody: a job would be root."""
    if (os.geteuid() if euid is None else euid) != 0 or root(euid, uid_map):
        return False
    return any(first == outside == 0 for first, outside, _ in _ranges(uid_map))


def _ranges(uid_map: str | None) -> list[list[int]]:
    if uid_map is None:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            uid_map = file.read()
    return [[int(number) for number in line.split()] for line in uid_map.splitlines()]
