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
import signal
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


def apart(function, *arguments, deaf: bool = False):
    """Call a function where Ctrl-C does not reach it.

    Ctrl-C ends the wait for the result; the function goes on to its end, and who needs its locks waits for that.
    A library that would put a handler of its own into the place of Python's is called `deaf`: it finds the signal
    ignored, and a press is handed on when it has ended.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    deaf = deaf and hasattr(signal, "sigwaitinfo") and callable(signal.getsignal(signal.SIGINT))
    found: dict[str, object] = {}
    begin, ended = threading.Event(), threading.Event()

    def run() -> None:
        begin.wait()
        try:
            found["result"] = function(*arguments)
        except BaseException as error:
            found["error"] = error
        finally:
            ended.set()
            if deaf and "left" not in found:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name="virtual-gpu-compiler")
    try:
        thread.start()
    except RuntimeError:  # the interpreter is about to end, or the system has no further thread
        return function(*arguments)
    try:
        (_wait_deaf if deaf else _wait)(begin, ended)
    finally:
        found["left"] = True
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


def _wait_deaf(begin: threading.Event, ended: threading.Event) -> None:
    """Wait in the system for SIGINT itself, which the thread that has ended sends to this one alone.

    Linux gives even a signal that is ignored to the main thread if it waits for it; what is lost is a press in the few
    microseconds between ignoring and waiting.
    """
    handler, pressed = signal.getsignal(signal.SIGINT), False
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        begin.set()
        while signal.sigwaitinfo({signal.SIGINT}).si_pid != os.getpid() or not ended.is_set():
            pressed = True
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    if pressed:
        signal.raise_signal(signal.SIGINT)


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
