"""Tests marked `alone`: while one runs, the other processes of the same run test nothing."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where no test is marked so
    fcntl = None


@contextlib.contextmanager
def room(alone: bool) -> Iterator[None]:
    """Be in the room with whoever else tests, or `alone`.

    Who wants to be alone holds the door while the others leave; else they would never all be out at once.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None or fcntl is None:
        yield
        return
    folder = Path(tempfile.gettempdir())
    with contextlib.ExitStack() as inside:
        with locked(folder / f"warpbook-door-{run}", shared=False):
            inside.enter_context(locked(folder / f"warpbook-room-{run}", shared=not alone))
        yield


@contextlib.contextmanager
def locked(path: Path, *, shared: bool) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        try:
            yield
        finally:
            # Not by closing it: a child that was forked meanwhile has it open, too.
            fcntl.flock(file, fcntl.LOCK_UN)
