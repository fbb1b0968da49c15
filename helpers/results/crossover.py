"""From which size on a GPU is worth its overhead: a launch counted once, scaled to other sizes, against a CPU.

Modelled, from counts and data sheets. Counts of other sizes are in proportion to those of the one that was counted. The
GPU pays the launch, the kernel as the time model has it, and the copies as `streams.model` has them: what the kernel
reads goes there, what it writes comes back, one request each, and no request is hidden behind another. The CPU is a
roofline: all cores at peak FLOP/s, or its memory at the share of its bandwidth that the time model grants a GPU's,
whichever takes longer. So its cores start for nothing, its caches start empty, and work on whole numbers is free.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace

from vgpu.hardware import gpus
from vgpu.hardware.cpus import CPU
from vgpu.hardware.time_model import DRAM_EFFICIENCY, CountedLaunch, Model, model_time
from vgpu.tools.profile import Profile
from vgpu.tools.streams.model import copy_seconds

COPIES = ("not counted", "pageable", "pinned")
"""How the copies to the GPU and back may be counted."""


class Counted:
    """One profile of `elements` elements, and what other numbers of elements would take."""

    def __init__(self, profile: Profile, elements: int):
        if elements < 1:
            raise ValueError("count at least one element")
        self.profile, self.elements = profile, elements
        self._on: dict[str, Profile] = {}

    def counters(self, elements: float) -> CountedLaunch:
        """The counters in proportion to the size; a grid has whole blocks."""
        counters, factor = self.profile.counters, elements / self.elements
        blocks, (read, written) = math.prod(counters.grid), self._footprint
        return SimpleNamespace(
            total={key: value * factor for key, value in counters.total.items()},
            footprint=SimpleNamespace(read_bytes=read * factor, written_bytes=written * factor),
            grid=(max(1, math.ceil(blocks * factor)), 1, 1),
            warps=max(1, counters.warps * factor),
        )

    def kernel(self, elements: float, gpu: str) -> Model:
        """The modelled time of one launch over `elements`, the launch itself included."""
        if gpu not in self._on:
            self._on[gpu] = self.profile.on(gpu)
        return model_time(self.counters(elements), self._on[gpu].occupancy, gpus.find(gpu))

    def copies(self, elements: float, gpu: str, pinned: bool) -> float:
        """Seconds of the copies to the GPU and back, and of asking for them."""
        row, factor = gpus.find(gpu), elements / self.elements
        moved = [nbytes * factor for nbytes in self._footprint if nbytes]
        return sum(copy_seconds(nbytes, row, pinned) + row.launch_overhead for nbytes in moved)

    def on_gpu(self, elements: float, gpu: str, copies: str = "pageable", launches: int = 1) -> float:
        """Seconds of one launch, with its share of the copies, which are made once for so many `launches`.

        `copies` is one of `COPIES`. Raises ValueError for another, and where no document gives the link to the host.
        """
        if copies not in COPIES:
            raise ValueError(f"copies are {', '.join(map(repr, COPIES))}; got {copies!r}")
        seconds = self.kernel(elements, gpu).seconds
        return seconds if copies == COPIES[0] else seconds + self.copies(elements, gpu, copies == "pinned") / launches

    def on_cpu(self, elements: float, cpu: CPU) -> float:
        """Seconds of the same floating-point work and the same distinct bytes on all cores of a CPU."""
        total, factor = self.profile.counters.total, elements / self.elements
        arithmetic = sum(total[f"flops_{kind}"] / cpu.peak(kind) for kind in ("fp16", "fp32", "fp64"))
        memory = sum(self._footprint) / (cpu.memory_bandwidth * DRAM_EFFICIENCY)
        return factor * max(arithmetic, memory)

    @property
    def _footprint(self) -> tuple[int, int]:
        footprint = self.profile.counters.footprint
        return footprint.read_bytes, footprint.written_bytes


def break_even(cpu: Callable[[float], float], gpu: Callable[[float], float], sizes: Sequence[float]) -> float | None:
    """The number of elements from which on the GPU wins, within 0.1 %; None where the CPU is as fast at the last size.

    `cpu` and `gpu` give seconds for a number of elements; `sizes` rise. A GPU that wins at all sizes gives the first.
    """
    wins = [gpu(size) < cpu(size) for size in sizes]
    if not wins[-1]:
        return None
    first = max((at + 1 for at, won in enumerate(wins) if not won), default=0)
    if first == 0:
        return sizes[0]
    low, high = sizes[first - 1], sizes[first]
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if gpu(middle) < cpu(middle) else (middle, high)
    return high
