"""Values and listeners that belong to one context, and the lock that lets one kernel run at a time.

JupyterLab answers widgets in separate threads, beside the cell that runs. A listener (a recorder, a counter, a leak
check) sees what its own context does, and the threads started in it meanwhile: CUDA programs give each stream a thread,
too. A thread that ran before, such as a pool's from an earlier cell or the one that answers a widget, belongs to the
context that started it.

Launches run one after another, as launches of several threads do in CUDA's default stream. So no launch runs while
another one restores memory, as `trace`, `record` and several seeds of `sanitize` do.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from vgpu.base import steady
from vgpu.base.replaced import Replaced

T = TypeVar("T")

LAUNCHING = steady.lock(rank=-1)
"""Held while a kernel runs, from saving memory to restoring it, and while Triton's driver is replaced."""

_NOTHING: Mapping[object, Any] = {}
_state: contextvars.ContextVar[Mapping[object, Any]] = contextvars.ContextVar("virtual-gpu")
_INHERITED = "_virtual_gpu_state"


def _inheriting(original: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    """A `Thread.start` whose thread begins with the values that are set where it is started."""

    @functools.wraps(original)
    def start(thread: threading.Thread) -> None:
        if values := _values():
            setattr(thread, _INHERITED, values)
        original(thread)

    return start


_thread_starts = Replaced(threading.Thread, "start", _inheriting)
"""What contexts enter whose threads are to have their values; Python can do so itself from 3.14 on."""


def _values() -> Mapping[object, Any]:
    """The values set in this context, or where this thread was started."""
    found = _state.get(None)
    return getattr(threading.current_thread(), _INHERITED, _NOTHING) if found is None else found


class Own(Generic[T]):
    """A value of this context and of the threads that are started in it; elsewhere it is `default`."""

    def __init__(self, default: T):
        self.default = default

    def get(self) -> T:
        """The value here."""
        return _values().get(self, self.default)

    def set(self, value: T) -> None:
        """Choose the value here, and in threads that are started while `_thread_starts` is entered."""
        _state.set({**_values(), self: value})


class _Subscription(Generic[T]):
    """A listener; None once it has been removed, for the threads that were started meanwhile."""

    __slots__ = ("listener",)

    def __init__(self, listener: T):
        self.listener: T | None = listener


class Listeners(Generic[T]):
    """The listeners of this context; those of others are never called for what it does."""

    def __init__(self) -> None:
        self._subscriptions: Own[tuple[_Subscription[T], ...]] = Own(())
        self._anywhere: set[_Subscription[T]] = set()  # of all contexts: mostly there is none

    def __iter__(self) -> Iterator[T]:
        if not self._anywhere:
            return iter(())
        return iter([each for entry in self._subscriptions.get() if (each := entry.listener) is not None])

    def __bool__(self) -> bool:
        return bool(self._anywhere) and any(entry.listener is not None for entry in self._subscriptions.get())

    @contextlib.contextmanager
    def hearing(self, listener: T) -> Iterator[None]:
        """Within the `with` block, `listener` is among the listeners."""
        subscription = _Subscription(listener)
        self._anywhere.add(subscription)
        self._subscriptions.set((*self._subscriptions.get(), subscription))
        try:
            with _thread_starts:
                yield
        finally:
            subscription.listener = None
            self._anywhere.discard(subscription)
            self._subscriptions.set(tuple(each for each in self._subscriptions.get() if each.listener is not None))


_program: Own[object] = Own(None)


def program() -> object:
    """Identifies the program that this context belongs to: one per `run_isolated`, None for the rest of the process."""
    return _program.get()


def run_isolated(function: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """Call a function as a separate program, which the listeners of this context don't see."""

    def call() -> T:
        _state.set(_NOTHING)
        _program.set(object())
        with _thread_starts:
            return function(*arguments, **named)

    return contextvars.copy_context().run(call)
