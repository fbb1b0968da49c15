"""Whether another profiler, such as `ncu`, surrounds this program; it replays each launch itself."""

from __future__ import annotations

_PROFILED = False


def launch_once() -> None:
    """From now on `profiled()` is true: what would repeat launches to time them runs them once."""
    global _PROFILED
    _PROFILED = True


def profiled() -> bool:
    """Whether `launch_once` has said that a profiler surrounds this program."""
    return _PROFILED
