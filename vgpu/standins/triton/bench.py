"""Triton's timing without a GPU: `autotune` and `do_bench` get a modelled time."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from triton import testing

from vgpu.launch import launch
from vgpu.standins import modelled
from vgpu.standins.events import Event
from vgpu.standins.triton.kernel import handling, run

if TYPE_CHECKING:
    from vgpu.launch.grid import Grid

_summarised = testing._summarize_statistics
_measuring: ContextVar[list[float] | None] = ContextVar("measuring", default=None)


def do_bench(
    fn: Callable[[], object],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Iterable[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """`triton.testing.do_bench`: the modelled milliseconds of `fn()`, from one counted run, and always the same.

    They are the sum over the kernels that it launches, with Triton or otherwise, without the trials of `autotune`. NaN,
    with a warning the first time, where it launches none: PyTorch's own operators run on the CPU. The result has the
    form that `quantiles` and `return_mode` ask for; `warmup` and `rep` are ignored.
    """
    for tensor in grad_to_none or ():
        tensor.grad = None
    seconds: list[float] = []

    def note(done: Grid) -> None:
        if _measuring.get() is seconds:  # and not an `autotune` within
            seconds.append(modelled.seconds(done))

    token = _measuring.set(seconds)
    try:
        with handling(partial(run, observe=True)), launch.FINISHED.hearing(note):
            fn()
    finally:
        _measuring.reset(token)
    if not seconds:
        _warn()
    return _summarised([1000 * sum(seconds) if seconds else math.nan], quantiles, return_mode)


@cache
def _warn() -> None:
    warnings.warn(
        "do_bench returns nan here: no kernel was launched, so there is no time to model. PyTorch's own operators run "
        "on this computer's CPU, whose time says nothing about a GPU.",
        stacklevel=3,
    )


def do_bench_cudagraph(
    fn: Callable[[], object],
    rep: float = 20,
    grad_to_none: Iterable[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """`triton.testing.do_bench_cudagraph`: as `do_bench`, since the launch overhead of the CPU isn't modelled."""
    return do_bench(fn, 0, rep, grad_to_none, quantiles, return_mode)


def activate() -> None:
    """Let `triton.testing` return modelled times."""
    testing.do_bench, testing.do_bench_cudagraph = do_bench, do_bench_cudagraph


class Interface:
    """The part of `torch.cuda` that programs take from Triton's driver to time kernels themselves."""

    Event = Event

    @staticmethod
    def synchronize(device=None) -> None:
        """Launches have ended already."""

    @staticmethod
    def current_stream(device=None) -> int:
        return 0
