"""What belongs to whom where several threads are at work, and one launch at a time.

JupyterLab answers widgets in threads of their own, beside the cell that runs. Whoever listens (a recording, a count, a
search for leaks) hears what its own context does, and the threads that are started in it meanwhile: CUDA programs
give each stream a thread, too. A thread that ran before, such as a pool's from an earlier cell or the one that answers
a widget, belongs to whoever started it.

Launches wait for one another, as those of several threads do in CUDA's default stream. So a launch never meets another
one that puts memory back, as `trace`, `record` and several seeds of `sanitize` do.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import sys
import threading
from collections.abc import Callable, Iterator, Mapping

from vgpu.base import steady

TURN = steady.lock(rank=-1)
"""Held while a kernel runs, from saving memory to putting it back, and while Triton has another driver for a moment."""

_NOTHING: Mapping[object, object] = {}
_state: contextvars.ContextVar[Mapping[object, object]] = contextvars.ContextVar("virtual-gpu")
_INHERITED = "_virtual_gpu_state"


@functools.cache
def _follow_threads() -> None:
    """From now on a thread begins with what is set where it is started.

    Before Python 3.14, where it can be asked for, a thread gets no context from the one that starts it. Python reports
    each start to audit hooks, in the thread that starts another one. A hook stays, so there is none until it's needed.
    """
    sys.addaudithook(_inherit)


def _inherit(event: str, arguments: tuple) -> None:
    # `_thread.start_new_thread`, from Python 3.13 on `_thread.start_joinable_thread`; both begin with what is called.
    if event.startswith("_thread.start") and (held := _held()):
        thread = getattr(arguments[0], "__self__", None)
        if isinstance(thread, threading.Thread):
            setattr(thread, _INHERITED, held)


def _held() -> Mapping[object, object]:
    """What has been set in this context, or where this thread was started."""
    found = _state.get(None)
    return getattr(threading.current_thread(), _INHERITED, _NOTHING) if found is None else found


class Own:
    """A value of this context and of the threads that are started in it; elsewhere it is `default`."""

    def __init__(self, default=None):
        self.default = default

    def get(self):
        """The value here."""
        return _held().get(self, self.default)

    def set(self, value) -> None:
        """Choose the value here and in threads that are started from now on."""
        _follow_threads()
        _state.set({**_held(), self: value})


class _Entry:
    """Somebody who listens; None from when they stopped, for the threads that were started meanwhile."""

    __slots__ = ("listener",)

    def __init__(self, listener):
        self.listener = listener


class Listeners:
    """Those who listen to this context; others are never called for what it does."""

    def __init__(self):
        self._entries = Own(())

    def __iter__(self) -> Iterator:
        return iter([each for entry in self._entries.get() if (each := entry.listener) is not None])

    def __bool__(self) -> bool:
        return any(entry.listener is not None for entry in self._entries.get())

    @contextlib.contextmanager
    def hearing(self, listener) -> Iterator[None]:
        """Within it `listener` is one of those who listen."""
        entry = _Entry(listener)
        self._entries.set((*self._entries.get(), entry))
        try:
            yield
        finally:
            entry.listener = None
            self._entries.set(tuple(each for each in self._entries.get() if each.listener is not None))


_program = Own()


def program() -> object:
    """What this context belongs to: what is run `apart`, or None for all else in this process."""
    return _program.get()


def apart(function: Callable, *arguments, **named):
    """Call a function as a program of its own: nobody who listens here hears it."""

    def call():
        _state.set(_NOTHING)
        _program.set(object())
        return function(*arguments, **named)

    return contextvars.copy_context().run(call)
