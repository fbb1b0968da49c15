"""The levels of a GPU's memory, from a thread's registers to the host: sizes, latencies, bandwidths and their sources.

Pure arithmetic on a row of `gpus.py`. What no source gives is None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vgpu.hardware.gpus import GPU
from vgpu.hardware.sources import Source

WORD = 4


@dataclass(frozen=True)
class Figure:
    """One number, or None where it is unknown, and where it comes from."""

    value: float | None
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Level:
    """One memory as a thread sees it.

    `reach`: bytes that one thread can use or share; `total`: bytes on the whole GPU; `latency`: clocks from a load to
    the use of its value; `bandwidth`: bytes a second of the whole GPU. `owner` says whose the `reach` is.
    """

    name: str
    owner: str
    reach: Figure
    total: Figure
    latency: Figure
    bandwidth: Figure


def _figure(gpu: GPU, of: Callable[[GPU], float], *fields: str) -> Figure:
    """A number made of these fields of the row; unknown where one of them is."""
    if not fields or any(getattr(gpu, name) is None for name in fields):
        return Figure(None)
    return Figure(of(gpu), tuple(dict.fromkeys(gpu.sources[name] for name in fields)))


def _plain(gpu: GPU, name: str) -> Figure:
    return _figure(gpu, lambda row: getattr(row, name), name)


def levels(gpu: GPU) -> tuple[Level, ...]:
    """The six levels, nearest first; L1 and shared memory are one memory, divided as a kernel requests it."""
    near = _figure(
        gpu, lambda row: row.shared_bytes_per_clock * row.sms * row.clock, "shared_bytes_per_clock", "sms", "clock"
    )
    return (
        Level(
            "registers",
            "a thread's",
            _figure(gpu, lambda row: WORD * row.registers_per_thread_limit, "registers_per_thread_limit"),
            _figure(gpu, lambda row: WORD * row.registers_per_sm * row.sms, "registers_per_sm", "sms"),
            _plain(gpu, "instruction_latency"),
            Figure(None),
        ),
        Level(
            "shared memory",
            "a block's",
            _plain(gpu, "shared_optin_limit"),
            _figure(gpu, lambda row: row.shared_per_sm * row.sms, "shared_per_sm", "sms"),
            _plain(gpu, "shared_latency"),
            near,
        ),
        Level(
            "L1",
            "an SM's",
            _plain(gpu, "l1_bytes"),
            _figure(gpu, lambda row: (row.l1_bytes or 0) * row.sms, "l1_bytes", "sms"),
            _plain(gpu, "l1_latency"),
            near,
        ),
        Level(
            "L2",
            "the GPU's",
            _plain(gpu, "l2_bytes"),
            _plain(gpu, "l2_bytes"),
            _plain(gpu, "l2_latency"),
            _plain(gpu, "l2_bandwidth"),
        ),
        Level(
            "DRAM",
            "the GPU's",
            _plain(gpu, "memory_bytes"),
            _plain(gpu, "memory_bytes"),
            _plain(gpu, "dram_latency"),
            _plain(gpu, "memory_bandwidth"),
        ),
        Level("host memory", "the host's", Figure(None), Figure(None), Figure(None), _plain(gpu, "host_bandwidth")),
    )
