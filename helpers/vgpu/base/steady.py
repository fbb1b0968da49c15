"""What neither Ctrl-C nor a fork may find half done: compilers at work, and the books of memory.

A compiler that is interrupted between two of its steps may be useless for the rest of the process, so compilers run
in threads, where no KeyboardInterrupt is raised. A child that is forked while another thread compiles would inherit a
compiler at work and a lock that nobody opens, so a fork waits for the locks made here.
"""

from __future__ import annotations

# Before a fork the handler that was registered last is called first. These two take locks that are needed while ours
# are held, so they have to be imported before ours is registered.
import concurrent.futures.thread  # noqa: F401
import contextvars
import logging  # noqa: F401
import os
import threading

_KNOWN: list[tuple[int, object]] = []


def register(lock, rank: int):
    """Let forks wait for a lock (one that its holder may take again); locks are taken in the order of their ranks."""
    _KNOWN.append((rank, lock))
    _KNOWN.sort(key=lambda known: known[0])
    return lock


def lock(rank: int):
    """A new lock for which forks wait. Who holds one may take those of higher rank, not those of lower."""
    return register(threading.RLock(), rank)


def apart(function, *arguments):
    """Call a function where Ctrl-C does not reach it.

    Ctrl-C ends the wait for the result; the function goes on to its end, and who needs its locks waits for that.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    found: dict[str, object] = {}
    ended = threading.Event()

    def run() -> None:
        try:
            found["result"] = function(*arguments)
        except BaseException as error:
            found["error"] = error
        finally:
            ended.set()

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name="virtual-gpu-compiler")
    try:
        thread.start()
    except RuntimeError:  # the interpreter is about to end, or the system has no further thread
        return function(*arguments)
    # A signal that another thread has caught is only handled when this one looks up; and a join that is broken off
    # would take the thread for one that has ended.
    while not ended.wait(0.1):
        pass
    thread.join()
    if "error" in found:
        try:
            raise found["error"]
        finally:
            found.clear()  # else the error's traceback leads back to it
    return found["result"]


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
