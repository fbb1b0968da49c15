"""PyTorch has one profiler a process: who needs it waits for a thread that has it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

PATIENCE = 60.0  # seconds; a recording may hold what the user's own code waits for
_one = threading.Lock()
_holder = 0


class Busy(RuntimeError):
    """Another recording with PyTorch's profiler is under way."""


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Within it this thread is the one that profiles. Raises `Busy` within itself, and after a minute's wait."""
    global _holder
    if _holder == threading.get_ident():
        raise Busy("recordings with PyTorch's profiler do not nest: end the outer one first")
    if not _one.acquire(timeout=PATIENCE):
        raise Busy(
            f"another thread has been recording with PyTorch's profiler for more than {PATIENCE:g} seconds, and one "
            "profiler runs at a time: let that one end first"
        )
    try:
        _holder = threading.get_ident()
        yield
    finally:
        _holder = 0
        _one.release()
