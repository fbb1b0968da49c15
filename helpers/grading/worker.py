"""What one worker keeps open between submissions: a sandbox for notebooks, one for launches, one for the judge."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import util

from helpers.grading.policy import Policy
from helpers.grading.sandbox import Sandbox, open_sandbox, tiers


@dataclass(frozen=True)
class Settings:
    """What is the same for all submissions of a run.

    `environment` is the hash of the grader's code and versions, which a worker elsewhere must share; `tier` the name
    of a sandbox, None for the best that there is; `trusted` whether the class is; `imports` what its fork servers
    import beforehand, by their roles.
    """

    seed: int
    policy: Policy
    environment: str
    tier: str | None = None
    trusted: bool = False
    fork_server: bool = True
    imports: tuple[tuple[str, tuple[str, ...]], ...] = ()


ROLES = ("student", "runner", "judge")


@dataclass(frozen=True)
class Sandboxes:
    """One for each of `ROLES`."""

    student: Sandbox
    runner: Sandbox
    judge: Sandbox


_turn = threading.Lock()
_kept: dict[Settings, Sandboxes] = {}
_open = contextlib.ExitStack()
_folders: set[str] = set()


@contextlib.contextmanager
def sandboxes(settings: Settings) -> Iterator[Sandboxes]:
    """The sandboxes of this process, opened the first time; one submission has them at a time.

    After an exception they are closed, so that whoever comes next gets new ones.
    """
    with _turn:
        try:
            if settings not in _kept:
                close()
                opened = [_open.enter_context(_sandbox(settings, role)) for role in ROLES]
                _kept[settings] = Sandboxes(*opened)
            yield _kept[settings]
        except BaseException:
            close()
            raise


@contextlib.contextmanager
def folder() -> Iterator[str]:
    """An empty folder that is gone afterwards, also where this process is ended because its grader is gone."""
    with tempfile.TemporaryDirectory(prefix="warpbook-") as path:
        _folders.add(path)
        try:
            yield path
        finally:
            _folders.discard(path)


def close() -> None:
    """End the sandboxes of this process."""
    _kept.clear()
    _open.close()


def _sandbox(settings: Settings, role: str) -> Sandbox:
    return open_sandbox(
        None if settings.tier is None else tiers.tier(settings.tier),
        role=role,
        limits=settings.policy.limits,
        fork_server=settings.fork_server,
        trusted=settings.trusted,
        imports=dict(settings.imports).get(role, ()),
    )


def begin() -> None:
    """What a process of a pool does first: it leaves Ctrl-C to its parent, and ends when that ends."""
    from multiprocessing import connection, parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def follow() -> None:
        parent = parent_process()
        assert parent is not None
        connection.wait([parent.sentinel])
        for path in tuple(_folders):
            shutil.rmtree(path, ignore_errors=True)
        os._exit(1)  # a pool's queue does not say that the other side is gone

    threading.Thread(target=follow, daemon=True, name="follow the grader").start()


# A process of a pool leaves by multiprocessing's own way, which does not ask atexit.
util.Finalize(None, close, exitpriority=10)
atexit.register(close)
