"""What a GPU's gauges read: utilisation, memory, clocks, power, temperature, asked of `nvidia-smi`.

`nvidia-smi` comes with the driver and prints what NVML, the driver's library for managing GPUs, reports. Where there is
no GPU nothing is read, and nothing is shown but what each gauge means. Sources: NVIDIA, NVML API reference,
https://docs.nvidia.com/deploy/nvml-api/ ; `nvidia-smi --help-query-gpu`.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from vgpu.hardware.device import real_gpu
from vgpu.tools.streams.spans import table


@dataclass(frozen=True)
class Gauge:
    """One field of `nvidia-smi --query-gpu`: its name, the unit it comes in, and what it means."""

    field: str
    unit: str
    meaning: str


GAUGES = (
    Gauge("utilization.gpu", "%", "share of the last sample period in which at least one kernel ran"),
    Gauge("utilization.memory", "%", "share of it in which device memory was read or written"),
    Gauge("memory.used", "MiB", "device memory allocated by all programs, including contexts and cached blocks"),
    Gauge("memory.total", "MiB", "all device memory"),
    Gauge("clocks.sm", "MHz", "current clock of the SMs"),
    Gauge("clocks.max.sm", "MHz", "the highest clock of the SMs"),
    Gauge("clocks.mem", "MHz", "clock of the memory"),
    Gauge("power.draw", "W", "power drawn"),
    Gauge("power.limit", "W", "power at which clocks are lowered"),
    Gauge("temperature.gpu", "°C", "temperature of the chip"),
    Gauge("clocks_event_reasons.active", "bits", "why the clock is not higher: idle, power, temperature or a setting"),
)
_ABSENT = ("[N/A]", "[Not Supported]", "N/A", "")
_LONGEST = 20  # seconds; the driver may have to wake the GPU first


@dataclass(frozen=True, repr=False)
class Reading:
    """What the gauges read at one moment, field → text, or None where there was nothing to read; `why` then says why.

    `reading["power.draw"]` is a number, or None for what this GPU does not report.
    """

    values: dict[str, str] | None
    why: str = ""

    def __getitem__(self, field: str) -> float | None:
        known = [gauge.field for gauge in GAUGES]
        if field not in known:
            raise KeyError(f"no gauge called {field!r}; there are {', '.join(known)}")
        text = (self.values or {}).get(field, "")
        if text in _ABSENT:
            return None
        return float(int(text, 16)) if text.startswith("0x") else float(text)

    def _cell(self, gauge: Gauge) -> str:
        if self.values is None:
            return gauge.unit
        text = self.values[gauge.field]
        return "not reported" if text in _ABSENT else f"{text} {gauge.unit}"

    def __repr__(self) -> str:
        width = max(len(gauge.field) for gauge in GAUGES)
        lines = [f"  {gauge.field:<{width}}  {self._cell(gauge):<12}  {gauge.meaning}" for gauge in GAUGES]
        return "\n".join([self._title, *lines])

    def _repr_html_(self) -> str:
        rows = [(gauge.field, self._cell(gauge), gauge.meaning) for gauge in GAUGES]
        heads = ("gauge", "unit" if self.values is None else "measured", "what it says")
        return table(escape(self._title), heads, rows)

    @property
    def _title(self) -> str:
        return "measured by nvidia-smi" if self.values is not None else f"Nothing read: {self.why}."


class Unread(Exception):
    """`nvidia-smi` gave no answer; the message says why."""


def read() -> Reading:
    """Every gauge of the first GPU, once."""
    if not real_gpu():
        return Reading(None, "no GPU runs the kernels here")
    try:
        return Reading(query([gauge.field for gauge in GAUGES]))
    except Unread as problem:
        return Reading(None, str(problem))


def query(fields: Sequence[str]) -> dict[str, str]:
    """The texts of these fields of the first GPU; `nvidia-smi --help-query-gpu` lists all. Raises Unread."""
    if shutil.which("nvidia-smi") is None:
        raise Unread("nvidia-smi is not on the path")
    asked = ["nvidia-smi", "--id=0", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=_LONGEST, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unread(f"nvidia-smi did not answer ({error})") from None
    texts = [text.strip() for text in answer.stdout.strip().splitlines()[-1:] for text in text.split(",")]
    if answer.returncode or len(texts) != len(fields):
        said = (answer.stdout or answer.stderr).strip().splitlines()
        raise Unread(f"nvidia-smi said: {said[0] if said else f'exit {answer.returncode}'}")
    return dict(zip(fields, texts, strict=True))


def during(run: Callable[[], object], seconds: float = 2.0) -> Reading:
    """The gauges after `run` was called again and again for so long: a whole sample period and more.

    `run` has to wait for the GPU itself, as a function that ends in a synchronisation does. Without a GPU it is not
    called at all.
    """
    if not real_gpu():
        return read()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        run()
    return read()
