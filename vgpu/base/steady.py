"""Protects compilers and the tables of memory from Ctrl-C and from forks.

A compiler that is interrupted halfway may be unusable for the rest of the process, so compilers run in threads, where
no KeyboardInterrupt is raised. A child process forked while another thread compiles would inherit a compiler in mid-
work and a lock that no thread releases, so a fork waits for the locks made here.
"""

from __future__ import annotations

# Before a fork the handler that was registered last is called first. These two take locks that are needed while ours
# are held, so they have to be imported before ours is registered.
import concurrent.futures.thread  # noqa: F401
import contextlib
import contextvars
import ctypes
import logging  # noqa: F401
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Lock(Protocol):
    """A lock that its holder may take again."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
    def release(self) -> None: ...
    def __enter__(self) -> bool: ...
    def __exit__(self, *error: Any) -> None: ...


L = TypeVar("L", bound=Lock)
_REGISTERED: list[tuple[int, Lock]] = []


def register(lock: L, rank: int) -> L:
    """Let forks wait for a reentrant lock; they take the registered locks in the order of their ranks."""
    _REGISTERED.append((rank, lock))
    _REGISTERED.sort(key=lambda registered: registered[0])
    return lock


def lock(rank: int) -> Lock:
    """A new lock for which forks wait. Its holder may take locks of higher rank, but not of lower."""
    return register(threading.RLock(), rank)


def run_uninterrupted(function: Callable[..., T], *arguments: Any, ignore_sigint: bool = False) -> T:
    """Call a function that Ctrl-C doesn't interrupt.

    Ctrl-C ends the wait for the result; the function runs to its end, and other threads wait for the locks it holds.
    `ignore_sigint` is for a library that replaces Python's signal handler: SIGINT is ignored while it runs, and raised
    again when it has ended.
    """
    main, thread_id = threading.main_thread(), threading.get_native_id()
    if threading.current_thread() is not main:
        return function(*arguments)
    ignore_sigint = ignore_sigint and hasattr(signal, "sigtimedwait") and callable(signal.getsignal(signal.SIGINT))
    results: list[T] = []
    errors: list[BaseException] = []
    abandoned = threading.Event()
    begin, ended = threading.Event(), threading.Event()

    def run() -> None:
        begin.wait()
        try:
            if not abandoned.is_set():
                with _ignoring_sigint(thread_id) if ignore_sigint else contextlib.nullcontext():
                    results.append(function(*arguments))
        except BaseException as error:
            errors.append(error)
        finally:
            ended.set()
            if ignore_sigint and main.ident is not None:
                signal.pthread_kill(main.ident, WAKE)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name="virtual-gpu-compiler")
    try:
        try:
            thread.start()
        except RuntimeError:  # the interpreter is about to end, or the system has no further thread
            return function(*arguments)
        (_wait_catching_sigint if ignore_sigint else _wait)(begin, ended)
    except BaseException:
        abandoned.set()
        raise
    finally:
        begin.set()
    # An interrupted join would take the thread for one that has ended.
    thread.join()
    if errors:
        try:
            raise errors[0]
        finally:
            errors.clear()  # else the error's traceback refers back to it
    return results[0]


def _wait(begin: threading.Event, ended: threading.Event) -> None:
    begin.set()
    # Python handles a signal that another thread caught only when this thread runs again.
    while not ended.wait(0.1):
        pass


# An ignored signal is not lost while the main thread waits for it in the system: Linux delivers it to that thread. So
# the main thread waits first; then the other thread ignores the signal and compiles, and restores the handler before it
# wakes the main thread. Only SIGINT wakes the main thread earlier, after which no other can be lost.
# One gap remains: NVRTC itself sets SIGINT to be ignored when it begins, which discards a pending one. With compiles of
# 13 ms, one after another on a busy machine, 9 of 2,000 presses of Ctrl-C were lost; a second press then works.

WAKE: int = getattr(signal, "SIGURG", 0)
"""The signal that ends the wait: one without effect where no thread waits for it. 0 where the system has none."""
LONGEST_START = 0.1
"""Seconds that the main thread gets to begin its wait. Where that can't be seen, a SIGINT in between is lost."""


def _wait_catching_sigint(begin: threading.Event, ended: threading.Event) -> None:
    """Wait for SIGINT in the system itself, and raise it again when the function has ended."""
    handler, signals, pressed = signal.getsignal(signal.SIGINT), {int(signal.SIGINT), WAKE}, threading.Event()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        # Python's own handler runs in the middle of what follows, also for a SIGINT that another thread caught.
        signal.signal(signal.SIGINT, lambda *_: pressed.set())
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        begin.set()
        while not ended.is_set():
            caught = signal.sigtimedwait(signals, 1.0)
            if caught is not None and caught.si_signo == signal.SIGINT:
                pressed.set()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if pressed.is_set():
        signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def _ignoring_sigint(waiting: int) -> Iterator[None]:
    """Ignore SIGINT from when the thread `waiting` (its native id) waits for it.

    Python lets only the main thread set a handler, so this calls the C library.
    """
    set_handler = ctypes.CDLL(None).signal
    set_handler.argtypes, set_handler.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    end = time.monotonic() + LONGEST_START
    while _blocks_sigint(waiting) and time.monotonic() < end:
        time.sleep(0.0001)
    handler = set_handler(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        set_handler(signal.SIGINT, handler)


def _blocks_sigint(thread: int) -> bool:
    """Whether a thread blocks SIGINT now; while it waits for the signal it doesn't (proc(5), SigBlk)."""
    try:
        status = Path(f"/proc/self/task/{thread}/status").read_text()
    except OSError:
        return True
    blocked = re.search(r"^SigBlk:\s*([0-9a-f]+)", status, re.MULTILINE)
    return blocked is None or bool(int(blocked[1], 16) >> (signal.SIGINT - 1) & 1)


_held: list[Lock] = []


def _before_fork() -> None:
    for _, registered in list(_REGISTERED):
        registered.acquire()
        _held.append(registered)


def _after_fork() -> None:
    while _held:
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
