"""Triton's timing without a GPU: a modelled time for `autotune`, the host's clock for `do_bench`."""

from __future__ import annotations

import math
import re
import time
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

from vgpu.compile.resources import Resources, resources
from vgpu.hardware.device import current
from vgpu.hardware.occupancy import occupancy
from vgpu.hardware.time_model import model_time
from vgpu.standins.triton.kernel import handling, run

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel

# The assembler supports nothing older.
_OLDEST = (7, 5)


def modelled_milliseconds(kernel_call, *, quantiles=None, **options):
    """The modelled time of `kernel_call()` in milliseconds: from one counted run, and always the same.

    `autotune` compares configurations with it. It is the sum over the launches; nothing else in the call counts. With
    `quantiles`, a list of equal times, one per quantile.
    """
    seconds = 0.0

    def handle(prepared) -> None:
        nonlocal seconds
        counters = run(prepared, observe=True)
        assert prepared.block is not None, "Triton chooses the block"
        gpu, needs = current(), needed(prepared.kernel)
        shared = needs.shared_bytes + prepared.shared_bytes
        resident = occupancy(needs.registers, shared, math.prod(prepared.block), gpu)
        seconds += model_time(counters, resident, gpu).seconds

    with handling(handle):
        kernel_call()
    milliseconds = 1000 * seconds
    return milliseconds if quantiles is None else [milliseconds] * len(quantiles)


def needed(kernel: Kernel) -> Resources:
    """Registers, shared memory and spills of a loaded kernel on the modelled GPU, or on the newer one of its PTX."""
    capability, target = max(current().compute_capability, _OLDEST), kernel.module.module.target
    number = re.match(r"sm_(\d+)", target)
    made_for = divmod(int(number[1]), 10) if number else (0, 0)
    arch = target if made_for > capability else "sm_{}{}".format(*capability)
    return resources(kernel.ptx, "ptx", arch, kernel.entry)


class Event:
    """A mark with a time of the host's clock, with the methods of `torch.cuda.Event`."""

    clock = staticmethod(time.perf_counter)

    def __init__(self, enable_timing: bool = False, **options):
        self._at: float | None = None

    def record(self, stream=None) -> None:
        """Take the time."""
        self._at = self.clock()

    def synchronize(self) -> None:
        """Launches have ended already."""

    def query(self) -> bool:
        return True

    def elapsed_time(self, other: Event) -> float:
        """Milliseconds to another event."""
        if self._at is None or other._at is None:
            raise RuntimeError("an event has no time before event.record() was called")
        return 1000 * (other._at - self._at)


class Interface:
    """The part of `torch.cuda` that `triton.testing.do_bench` uses. It measures this computer, and warns once."""

    @staticmethod
    @lru_cache(1)
    def _warn() -> None:
        warnings.warn(
            "do_bench measures how long this computer takes to play the GPU, not what a GPU would take. Compare "
            "kernels by profile(kernel, grid, None, args), whose counts are exact and whose time is modelled.",
            stacklevel=4,
        )

    @classmethod
    def Event(cls, enable_timing: bool = False, **options) -> Event:
        cls._warn()
        return Event(enable_timing, **options)

    @staticmethod
    def synchronize(device=None) -> None:
        """Launches have ended already."""

    @staticmethod
    def current_stream(device=None) -> int:
        return 0
