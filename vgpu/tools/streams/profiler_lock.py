"""A lock for PyTorch's profiler, of which a process has one: a thread waits until another has finished profiling."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

PATIENCE = 60.0  # seconds; a recording may hold a lock that the user's own code waits for
_lock = threading.Lock()
_holder = 0


class Busy(RuntimeError):
    """Another recording with PyTorch's profiler is running."""


@contextlib.contextmanager
def exclusive() -> Iterator[None]:
    """Keep PyTorch's profiler for this thread. Raises `Busy` where the thread has it already, and after a minute."""
    global _holder
    if _holder == threading.get_ident():
        raise Busy("recordings with PyTorch's profiler do not nest: end the outer one first")
    if not _lock.acquire(timeout=PATIENCE):
        raise Busy(
            f"another thread has been recording with PyTorch's profiler for more than {PATIENCE:g} seconds, and one "
            "profiler runs at a time: let that one end first"
        )
    try:
        _holder = threading.get_ident()
        yield
    finally:
        _holder = 0
        _lock.release()
