"""Processes below another, as this machine sees them: how much memory they hold, and how they are all ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time


def pid_of(handle: int) -> int:
    """The number of the process that a handle (pidfd) stands for; -1 when it has ended."""
    with open(f"/proc/self/fdinfo/{handle}", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("Pid:"):
                return int(line.split()[1])
    return -1


def descendants(pid: int) -> list[int]:
    """All processes below one. In a namespace of processes, orphans are below its first."""
    found, waiting = [], [pid]
    while waiting:
        for child in _children(waiting.pop()):
            found.append(child)
            waiting.append(child)
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                children += map(int, file.read().split())
    return children


def memory(pids: list[int]) -> int:
    """Bytes that processes hold together; pages that several share count once, divided among them."""
    return sum(_field(f"/proc/{pid}/smaps_rollup", "Pss:") or _field(f"/proc/{pid}/status", "VmRSS:") for pid in pids)


def resident(pids: list[int]) -> int:
    """Bytes that processes hold, where shared pages count for each: never less than `memory`, and quick."""
    return sum(_field(f"/proc/{pid}/status", "VmRSS:") for pid in pids)


def _field(path: str, name: str) -> int:
    with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    return 0


def wait(handle: int, seconds: float) -> bool:
    """Whether the process of a handle ends within that time."""
    waiter = select.poll()
    waiter.register(handle, select.POLLIN)
    return bool(waiter.poll(int(seconds * 1000)))


END_SECONDS = 120.0
"""For processes that are killed to be gone: a hundred of them on a busy machine take their time."""


def end(handle: int, alone: bool, seconds: float = END_SECONDS) -> bool:
    """End the process of a handle and all below it; whether they had ended in time.

    `alone`: it is the first of a namespace of processes, with which the kernel ends all others. Else they are looked
    for, again and again, while orphans come to this process.
    """
    until = time.monotonic() + seconds
    if not alone and (pid := pid_of(handle)) > 0:
        while (below := descendants(pid)) and time.monotonic() < until:
            for child in below:
                with contextlib.suppress(OSError):
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    return wait(handle, max(0.0, until - time.monotonic()))
