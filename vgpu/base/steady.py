"""What neither Ctrl-C nor a fork may find half done: compilers at work, and the books of memory.

A compiler that is interrupted between two of its steps may be useless for the rest of the process, so compilers run
in threads, where no KeyboardInterrupt is raised. A child that is forked while another thread compiles would inherit a
compiler at work and a lock that nobody opens, so a fork waits for the locks made here.
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
from collections.abc import Iterator
from pathlib import Path

_KNOWN: list[tuple[int, object]] = []


def register(lock, rank: int):
    """Let forks wait for a lock (one that its holder may take again); locks are taken in the order of their ranks."""
    _KNOWN.append((rank, lock))
    _KNOWN.sort(key=lambda known: known[0])
    return lock


def lock(rank: int):
    """A new lock for which forks wait. Who holds one may take those of higher rank, not those of lower."""
    return register(threading.RLock(), rank)


def apart(function, *arguments, deaf: bool = False):
    """Call a function where Ctrl-C does not reach it.

    Ctrl-C ends the wait for the result; the function goes on to its end, and who needs its locks waits for that.
    A library that would put a handler of its own into the place of Python's is called `deaf`: it finds the signal
    ignored, and a press is handed on when it has ended.
    """
    main, number = threading.main_thread(), threading.get_native_id()
    if threading.current_thread() is not main:
        return function(*arguments)
    deaf = deaf and hasattr(signal, "sigtimedwait") and callable(signal.getsignal(signal.SIGINT))
    found: dict[str, object] = {}
    begin, ended = threading.Event(), threading.Event()

    def run() -> None:
        begin.wait()
        try:
            if "left" not in found:
                with _ignoring(number) if deaf else contextlib.nullcontext():
                    found["result"] = function(*arguments)
        except BaseException as error:
            found["error"] = error
        finally:
            ended.set()
            if deaf:
                signal.pthread_kill(main.ident, WAKE)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name="virtual-gpu-compiler")
    try:
        try:
            thread.start()
        except RuntimeError:  # the interpreter is about to end, or the system has no further thread
            return function(*arguments)
        (_wait_deaf if deaf else _wait)(begin, ended)
    except BaseException:
        found["left"] = True
        raise
    finally:
        begin.set()
    # A join that is broken off would take the thread for one that has ended.
    thread.join()
    if "error" in found:
        try:
            raise found["error"]
        finally:
            found.clear()  # else the error's traceback leads back to it
    return found["result"]


def _wait(begin: threading.Event, ended: threading.Event) -> None:
    begin.set()
    # A signal that another thread has caught is only handled when this one looks up.
    while not ended.wait(0.1):
        pass


# A signal that is ignored is not lost as long as the main thread waits for it in the system: Linux gives it to that
# thread. So the main thread waits first, then the other one has the signal ignored and compiles, and before it wakes
# the main thread everything is as it was. That one looks up earlier only for a press, after which no other can be lost.
# What remains: NVRTC itself sets the signal to be ignored when it begins, which discards a press on its way. With
# compiles of 13 ms, one after another on a busy machine, 9 of 2,000 presses were lost; a second press is then heard.

WAKE = getattr(signal, "SIGURG", None)
"""Which signal ends the wait: one that does nothing where nobody waits for it."""
LONGEST_WAY = 0.1
"""Seconds that the main thread gets to begin its wait. Where that cannot be seen, a press in between is lost."""


def _wait_deaf(begin: threading.Event, ended: threading.Event) -> None:
    """Take SIGINT from the system itself, and hand it on when all is over."""
    handler, signals, pressed = signal.getsignal(signal.SIGINT), {signal.SIGINT, WAKE}, threading.Event()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        # Python calls a handler of its own in the midst of what follows, also for a press that another thread took.
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
def _ignoring(waiting: int) -> Iterator[None]:
    """Have SIGINT ignored, once the thread of this number in the system waits for it.

    Python lets only the main thread set a handler, so this one asks the system.
    """
    set_handler = ctypes.CDLL(None).signal
    set_handler.argtypes, set_handler.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    end = time.monotonic() + LONGEST_WAY
    while _blocks_sigint(waiting) and time.monotonic() < end:
        time.sleep(0.0001)
    handler = set_handler(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        set_handler(signal.SIGINT, handler)


def _blocks_sigint(thread: int) -> bool:
    """Whether a thread would not take SIGINT now: who blocks it takes it while it waits for it (proc(5), SigBlk)."""
    try:
        status = Path(f"/proc/self/task/{thread}/status").read_text()
    except OSError:
        return True
    blocked = re.search(r"^SigBlk:\s*([0-9a-f]+)", status, re.MULTILINE)
    return blocked is None or bool(int(blocked[1], 16) >> (signal.SIGINT - 1) & 1)


_held: list = []


def _before_fork() -> None:
    for _, known in list(_KNOWN):
        known.acquire()
        _held.append(known)


def _after_fork() -> None:
    while _held:
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
