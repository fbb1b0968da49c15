"""Control groups: limits of memory and processes for a whole job, counted by Linux, where this user may make them.

Where there are groups of CPU too, each job has one: then Linux gives every job as much of the CPU as any other, however
many processes it starts, and nobody's cells run out of time because of another's.

Both versions are served. In version 2 a group that has processes may not share its controllers out, so the jobs'
groups are made beside the grader's own, where that is allowed, as below a user's service manager.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
WANTED = ("memory", "pids", "cpu", "cpuacct")
MOST_WEIGHT = {"cpu.weight": "10000", "cpu.shares": "262144"}
"""The largest share of the CPU that a group can have, by the file in which versions 2 and 1 keep it."""
_numbers = itertools.count()


@dataclass(frozen=True)
class Place:
    """Where groups can be made: `parents` by controller; `version` 1 or 2."""

    version: int
    parents: tuple[tuple[str, Path], ...]

    def __str__(self) -> str:
        return f"version {self.version}, of {', '.join(name for name, _ in self.parents)}"


class Group:
    """Limits for one job; `memory` and `processes` say which of them it keeps."""

    def __init__(self, place: Place, memory: int, processes: int):
        self.version = place.version
        name = f"warpbook-{os.getpid()}-{next(_numbers)}"
        self.folders: dict[str, Path] = {}
        try:
            for controller, parent in place.parents:
                folder = parent / name
                folder.mkdir(exist_ok=True)
                self.folders[controller] = folder
                self._limit(controller, folder, memory, processes)
        except OSError:
            self.close()
            raise

    def _limit(self, controller: str, folder: Path, memory: int, processes: int) -> None:
        if controller in ("cpu", "cpuacct"):
            return  # a share like everybody's is what a group has to begin with
        if controller == "pids":
            (folder / "pids.max").write_text(str(processes))
        elif self.version == 2:
            (folder / "memory.max").write_text(str(memory))
            with contextlib.suppress(OSError):
                (folder / "memory.swap.max").write_text("0")
        else:
            (folder / "memory.limit_in_bytes").write_text(str(memory))
            with contextlib.suppress(OSError):  # memory and swap together
                (folder / "memory.memsw.limit_in_bytes").write_text(str(memory))

    @property
    def memory(self) -> bool:
        return "memory" in self.folders

    @property
    def processes(self) -> bool:
        return "pids" in self.folders

    def add(self, pid: int) -> None:
        """Put a process, and all that it will start, into the group."""
        for folder in set(self.folders.values()):
            (folder / "cgroup.procs").write_text(str(pid))

    def pids(self) -> list[int] | None:
        """The processes in the group; None where that cannot be read."""
        with contextlib.suppress(OSError, ValueError, StopIteration):
            return [int(pid) for pid in (next(iter(self.folders.values())) / "cgroup.procs").read_text().split()]
        return None

    def cpu_seconds(self) -> float | None:
        """CPU seconds of all processes that are or were in the group; None where Linux does not count them."""
        with contextlib.suppress(OSError, ValueError, KeyError, StopIteration):
            if self.version == 1:
                return int((self.folders["cpuacct"] / "cpuacct.usage").read_text()) / 1e9
            lines = (next(iter(self.folders.values())) / "cpu.stat").read_text().splitlines()
            return int(dict(line.split() for line in lines)["usage_usec"]) / 1e6
        return None

    def end(self) -> None:
        """Kill what is in the group where Linux can do it at once, and let nothing more start.

        What is dying needs the CPU for it: a hundred processes would else share what one job has on a busy machine.
        """
        for folder in set(self.folders.values()):
            for name, value in {"pids.max": "0", **MOST_WEIGHT, "cgroup.kill": "1"}.items():
                with contextlib.suppress(OSError):
                    if (file := folder / name).exists():
                        file.write_text(value)

    def killed_for_memory(self) -> bool:
        """Whether Linux has ended a process of the group because the group was out of memory."""
        if not self.memory:
            return False
        file = "memory.events" if self.version == 2 else "memory.oom_control"
        with contextlib.suppress(OSError, ValueError):
            for line in (self.folders["memory"] / file).read_text().splitlines():
                name, _, count = line.partition(" ")
                if name == "oom_kill":
                    return int(count) > 0
        return False

    def close(self, seconds: float = 2.0) -> None:
        """Remove the group; the last process may still be on its way out."""
        until = time.monotonic() + seconds
        for folder in set(self.folders.values()):
            while True:
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    pass
                except OSError:
                    if time.monotonic() < until:
                        time.sleep(0.01)
                        continue
                break


def _own() -> dict[str, str]:
    """This process's group for each controller; "" for version 2."""
    found = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            found[controller] = path
    return found


def _candidates() -> list[Place]:
    own = _own()
    places = []
    if "" in own and (ROOT / "cgroup.controllers").exists():
        here = ROOT / own[""].lstrip("/")
        for parent in dict.fromkeys((here, here.parent)):
            with contextlib.suppress(OSError):
                shared = (parent / "cgroup.subtree_control").read_text().split()
                if parents := tuple((name, parent) for name in WANTED if name in shared):
                    places.append(Place(2, parents))
    apart: list[tuple[str, Path]] = []
    for name in WANTED:
        parent = ROOT / name / own.get(name, "/").lstrip("/")
        if name in own and (parent / "cgroup.procs").exists():
            apart.append((name, parent))
    # Where not all can be had, as many as can be.
    return places + [
        Place(1, some) for count in range(len(apart), 0, -1) for some in itertools.combinations(apart, count)
    ]


def _sweep(place: Place) -> None:
    """Remove the groups of graders that were killed."""
    for parent in {parent for _, parent in place.parents}:
        for folder in parent.glob("warpbook-*-*"):
            owner = folder.name.split("-")[1]
            if owner.isdigit() and not os.path.exists(f"/proc/{owner}"):
                with contextlib.suppress(OSError):
                    folder.rmdir()


@cache
def place() -> Place | None:
    """Where groups can be made here, found out by making one; None where they cannot."""
    with contextlib.suppress(OSError, ValueError):
        for candidate in _candidates():
            try:
                Group(candidate, 1 << 30, 64).close()
            except OSError:
                continue
            _sweep(candidate)
            return candidate
    return None
