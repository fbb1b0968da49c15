"""Measure how long a function takes: warm up, wait for it, repeat, and keep the spread.

On a GPU the clock is a pair of CUDA events; elsewhere it is the computer's monotonic clock, and what it
measures is this computer running the virtual GPU, which says nothing about a GPU's time.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from vgpu.base.profiler import profiled
from vgpu.hardware.device import device, real_gpu
from vgpu.tools.roofline import seconds_text

WARMUP = 2
# Without a stated `repeat`: at least this many, then as many as fit the budget, up to a most.
_LEAST, _MOST, _BUDGET = 7, 200, 0.125
_Clock = tuple[Callable[[Callable[[], object]], float], Callable[[], object], str]
"""What takes the seconds of a run, what waits until work is done, and the name of the clock."""


@dataclass(frozen=True, repr=False)
class Timing:
    """Measured times of one function, in seconds, sorted; `clock` and `on` say how and where."""

    samples: tuple[float, ...]
    warmup: int
    clock: str
    on: str
    bytes: float | None = None
    flops: float | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def minimum(self) -> float:
        return self.samples[0]

    @property
    def quartiles(self) -> tuple[float, float]:
        """A quarter of the samples lies below the first, a quarter above the second."""
        if len(self.samples) == 1:
            return self.samples[0], self.samples[0]
        first, _, third = statistics.quantiles(self.samples, n=4, method="inclusive")
        return first, third

    @property
    def bandwidth(self) -> float | None:
        """Effective bandwidth in GB/s at the median, from the bytes that were stated."""
        return self._rate(self.bytes)

    @property
    def gflops(self) -> float | None:
        """GFLOP/s at the median, from the FLOPs that were stated."""
        return self._rate(self.flops)

    def _rate(self, amount: float | None) -> float | None:
        return amount / self.median / 1e9 if amount is not None and self.median > 0 else None

    def _rows(self) -> list[tuple[str, str]]:
        first, third = self.quartiles
        rows = [
            ("median", seconds_text(self.median)),
            ("middle half", f"{seconds_text(first)} to {seconds_text(third)}"),
            ("fastest", seconds_text(self.minimum)),
            ("runs", f"{len(self.samples)} after {self.warmup} to warm up"),
        ]
        if self.bandwidth is not None:
            rows.append(("effective bandwidth", f"{self.bandwidth:.4g} GB/s"))
        if self.gflops is not None:
            rows.append(("arithmetic", f"{self.gflops:.4g} GFLOP/s"))
        return rows

    def __repr__(self) -> str:
        (_, median), (_, half), _, (_, runs), *rates = self._rows()
        more = "".join(f", {value}" for _, value in rates)
        return f"Timing(measured {median}, middle half {half}{more}; {runs}; {self.clock}, {self.on})"

    def _repr_html_(self) -> str:
        body = "".join(f'<tr><th scope="row">{name}</th><td>{value}</td></tr>' for name, value in self._rows())
        caption = f"<strong>measured</strong> with {escape(self.clock)}, {escape(self.on)}"
        # Above the table, not its caption: a caption is broken into lines as narrow as the table.
        return f'<div style="max-width:760px">{caption}</div><table><tbody>{body}</tbody></table>'


def benchmark(
    f: Callable,
    *args: object,
    warmup: int = WARMUP,
    repeat: int | None = None,
    bytes: float | None = None,
    flops: float | None = None,
    clock: Callable[[], float] | None = None,
    sync: Callable[[], object] | None = None,
) -> Timing:
    """Measure `f(*args)`: `warmup` runs that do not count, then `repeat` runs, each waited for.

    Without `repeat` there are 7 to 200 runs, as many as fit an eighth of a second. `bytes` and `flops` are
    what one run moves and computes; they add GB/s and GFLOP/s. `clock` returns seconds and replaces the
    events (or the monotonic clock); `sync` waits until the work is done and replaces the wait for the device.
    Raises ValueError for fewer than one run.
    """
    if warmup < 0 or (repeat is not None and repeat < 1):
        raise ValueError("a measurement needs at least one run to count, and no fewer than 0 to warm up")
    if profiled():
        warmup, repeat = 0, 1
    if not callable(f):
        raise TypeError(
            f"benchmark calls what it measures, and a {type(f).__name__} cannot be called: hand it over unlaunched, "
            "benchmark(lambda: kernel[blocks, threads](x, y))"
        )
    on_gpu = real_gpu()
    once, wait, name = _host(clock, sync, on_gpu) if clock or not on_gpu else _events(sync)
    for _ in range(warmup):
        f(*args)
    wait()
    samples: list[float] = []
    while not _enough(samples, repeat):
        samples.append(once(lambda: f(*args)))
    where = device().runs_on
    on = f"on {where}" if on_gpu else "on this CPU; kernels run on the virtual GPU, so this is no GPU's time"
    return Timing(tuple(sorted(samples)), warmup, name, on, bytes, flops)


def _enough(samples: Sequence[float], repeat: int | None) -> bool:
    if repeat is not None:
        return len(samples) >= repeat
    return len(samples) >= _LEAST and (sum(samples) >= _BUDGET or len(samples) >= _MOST)


def _host(clock: Callable[[], float] | None, sync: Callable[[], object] | None, on_gpu: bool) -> _Clock:
    """Time on the host's clock, waiting before it starts and before it stops."""
    read = clock or time.perf_counter
    name = "the clock it was given" if clock else "time.perf_counter"
    wait = sync or (_wait_for_gpu() if on_gpu else lambda: None)

    def once(run: Callable[[], object]) -> float:
        wait()
        start = read()
        run()
        wait()
        return read() - start

    return once, wait, name


def _events(sync: Callable[[], object] | None) -> _Clock:
    """Time between two CUDA events around the work, on the stream the work goes to."""
    import cupy

    wait = sync or _wait_for_gpu()

    def once(run: Callable[[], object]) -> float:
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        run()
        stop.record()
        stop.synchronize()
        return cupy.cuda.get_elapsed_time(start, stop) / 1e3

    return once, wait, "CUDA events"


def _wait_for_gpu() -> Callable[[], object]:
    import cupy

    return cupy.cuda.runtime.deviceSynchronize
