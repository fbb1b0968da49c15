"""The roofline: how many FLOP/s a GPU allows a kernel of a given arithmetic intensity, and where a kernel stands.

`roofline` and `peak_flops` are arithmetic on a row of `gpus.py`; `place` puts a profiled kernel under a roof. The time
of a counted kernel comes from `time_model`, whose names this module re-exports.
Source: Williams, Waterman and Patterson, Roofline, Communications of the ACM 52(4), 2009,
https://doi.org/10.1145/1498765.1498785; several memories in one diagram: Yang, Kurth and Williams, Hierarchical
Roofline Analysis for GPUs, Concurrency and Computation 32, 2020, https://doi.org/10.1002/cpe.5547
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vgpu.hardware import gpus
from vgpu.hardware.time_model import SECTOR_BYTES, Model, l1_bytes, l2_bytes, model_time, seconds_text

if TYPE_CHECKING:
    from vgpu.hardware.gpus import GPU
    from vgpu.launch.counters import Counters
    from vgpu.tools.profile import Profile

__all__ = [
    "MEMORIES",
    "PRECISIONS",
    "SECTOR_BYTES",
    "Model",
    "PlacedLaunch",
    "Point",
    "bandwidth",
    "bytes_moved",
    "flops_by_unit",
    "model_time",
    "peak_flops",
    "place",
    "rate_text",
    "roofline",
    "roofs_missing",
    "scaled",
    "seconds_text",
]  # fmt: skip

_ORDINARY = ("fp64", "fp32", "fp16")
_TENSOR = ("fp64_tensor", "tf32_tensor", "fp16_tensor", "fp8_tensor")
PRECISIONS: Mapping[str, str] = {
    unit: unit.replace("_", " ").replace("fp", "FP").replace("tf", "TF") for unit in (*_ORDINARY, *_TENSOR)
}
"""Units that have a flat roof, and their names: ordinary ones, then tensor cores by the type of their inputs."""

# The units that do the operations of each counter. bfloat16 runs at the rate of half precision.
_COUNTERS = {
    **{f"flops_{unit}": unit for unit in _ORDINARY},
    "flops_tensor_tf32": "tf32_tensor",
    "flops_tensor_fp16": "fp16_tensor",
    "flops_tensor_bf16": "fp16_tensor",
    "flops_tensor_fp8": "fp8_tensor",
    "flops_tensor_fp64": "fp64_tensor",
}


@dataclass(frozen=True)
class MemoryRoof:
    """One memory with a sloping roof: the bytes that a launch moves there, and the GPU's bandwidth in bytes/s."""

    name: str
    what: str
    moved: Callable[[Counters], float]
    bandwidth: Callable[[GPU], float | None]


MEMORIES: Mapping[str, MemoryRoof] = {
    memory.name: memory
    for memory in (
        MemoryRoof(
            "DRAM",
            "distinct sectors, each once: what no cache can save",
            lambda counters: counters.footprint.read_bytes + counters.footprint.written_bytes,
            lambda gpu: gpu.memory_bandwidth,
        ),
        MemoryRoof(
            "L2",
            "the sectors of all requests: hits in L1 are not modelled",
            lambda counters: l2_bytes(counters.total),
            lambda gpu: gpu.l2_bandwidth,
        ),
        MemoryRoof(
            "L1",
            "128 for each line and each wavefront that L1 and shared memory serve",
            lambda counters: l1_bytes(counters.total),
            lambda gpu: gpu.shared_bytes_per_clock * gpu.sms * gpu.clock,
        ),
    )
}
"""The memories that have a roof, from the farthest to the nearest."""

# The time model's bounds that mean latency or memory; all others are arithmetic units.
_WAITING = ("latency", "launch")
_MOVING = {"DRAM": "DRAM", "L2": "L2", "L1 and shared memory": "L1"}


@dataclass(frozen=True, repr=False)
class Point:
    """A kernel on the roofline: FLOPs a byte, the FLOP/s the roof allows there, and which roof that is."""

    gpu: str
    precision: str
    intensity: float
    attainable: float
    ridge: float
    memory: str = "DRAM"

    @property
    def bound(self) -> str:
        """ "memory" to the left of the ridge, "compute" from it on."""
        return "memory" if self.intensity < self.ridge else "compute"

    def __repr__(self) -> str:
        byte = "byte" if self.memory == "DRAM" else f"byte of {self.memory}"
        return (
            f"Point(modelled on {self.gpu}: {self.intensity:.3g} FLOP/{byte} allow "
            f"{self.attainable / 1e9:,.0f} GFLOP/s {PRECISIONS[self.precision]}, {self.bound}-bound; "
            f"ridge at {self.ridge:.3g} FLOP/{byte})"
        )


def roofline(flops: float, nbytes: float, gpu: GPU | str, precision: str = "fp32", memory: str = "DRAM") -> Point:
    """Where a kernel of so many FLOPs and bytes stands under `gpu`'s roof.

    `gpu` is a row of the table or its name. `precision` is "fp16", "fp32" or "fp64" (ordinary units), or "fp8_tensor",
    "fp16_tensor", "tf32_tensor" or "fp64_tensor"; `memory` says where the bytes were counted: "DRAM", "L2" or "L1".
    Raises ValueError where no document gives the GPU's peak or bandwidth, or there are no bytes.
    """
    if nbytes <= 0:
        raise ValueError("a roofline needs the bytes a kernel moves; 0 bytes have no intensity")
    gpu = gpus.find(gpu) if isinstance(gpu, str) else gpu
    peak, slope = peak_flops(gpu, precision), bandwidth(gpu, memory)
    intensity = flops / nbytes
    return Point(gpu.name, precision, intensity, min(peak, intensity * slope), peak / slope, memory)


def peak_flops(gpu: GPU, precision: str = "fp32") -> float:
    """The flat roof of `gpu` in FLOP/s for ordinary or tensor units."""
    if precision in _ORDINARY:
        return gpu.peak(precision)
    peak = getattr(gpu, f"{precision}_flops", None)
    if peak is None:
        raise ValueError(f"no document gives the {PRECISIONS.get(precision, precision)} peak of {gpu.name}")
    return peak


def bandwidth(gpu: GPU, memory: str = "DRAM") -> float:
    """The sloping roof of `gpu` in bytes a second, for "DRAM", "L2", or "L1" (with shared memory) of all SMs."""
    if memory not in MEMORIES:
        raise ValueError(f"bytes are counted at {', '.join(MEMORIES)}, not at {memory!r}")
    found = MEMORIES[memory].bandwidth(gpu)
    if found is None:
        having = ", ".join(name for name, row in gpus.GPUS.items() if MEMORIES[memory].bandwidth(row))
        raise ValueError(f"no document gives the {memory} bandwidth of {gpu.name}; the table has it for {having}")
    return found


def roofs_missing(gpu: GPU, precision: str, memory: str = "DRAM") -> list[str]:
    """A sentence for each roof that cannot be drawn, because no document gives it or the GPU has no such units."""
    found = []
    for ask, kind in ((peak_flops, precision), (bandwidth, memory)):
        try:
            ask(gpu, kind)
        except ValueError as error:
            found.append(str(error))
    return found


def flops_by_unit(total: Mapping[str, int]) -> dict[str, int]:
    """The floating-point operations of a launch by the units that do them, fma = 2; only those that are not zero.

    `total`: counters by key. A product of tensor cores is 2·m·n·k. Roots, divisions and the like don't count, as in a
    profiler, nor do operations on integers.
    """
    found: dict[str, int] = {}
    for key, unit in _COUNTERS.items():
        if total.get(key):
            found[unit] = found.get(unit, 0) + total[key]
    return found


def bytes_moved(counters: Counters, memory: str = "DRAM") -> float:
    """The bytes that a launch moves at "DRAM" (at least), "L2" or "L1": what its intensity is counted with."""
    if memory not in MEMORIES:
        raise ValueError(f"bytes are counted at {', '.join(MEMORIES)}, not at {memory!r}")
    return MEMORIES[memory].moved(counters)


def scaled(gpu: GPU, *, arithmetic: float = 1, memory: float = 1) -> GPU:
    """`gpu` with `arithmetic` times the lanes and tensor cores, and `memory` times the bandwidth of DRAM and L2.

    SMs, issue slots, shared memory and latencies stay. Numbers of lanes are rounded to whole ones.
    """
    if arithmetic <= 0 or memory <= 0:
        raise ValueError("a GPU is scaled by factors above 0")
    if arithmetic == memory == 1:
        return gpu
    lanes = {f"{unit}_lanes_per_sm": getattr(gpu, f"{unit}_lanes_per_sm") for unit in _ORDINARY}
    changed: dict[str, Any] = {key: max(1, round(count * arithmetic)) for key, count in lanes.items()}
    peaks = ("fp32_flops", "fp64_flops", *(f"{unit}_flops" for unit in _TENSOR))
    for keys, factor in ((peaks, arithmetic), (("memory_bandwidth", "l2_bandwidth"), memory)):
        changed |= {key: value * factor for key in keys if (value := getattr(gpu, key)) is not None}
    said = [f"{factor:g} × {what}" for factor, what in ((arithmetic, "lanes"), (memory, "bandwidth")) if factor != 1]
    return replace(gpu, name=", ".join([gpu.name, *said]), **changed)


@dataclass(frozen=True, repr=False)
class PlacedLaunch:
    """A launch under a roof: its FLOPs, bytes and time, and its bottleneck.

    `seconds` are modelled, or measured where `measured` says so. `limiter` is the time model's bound; `state` sorts it
    into "memory", "compute" and "latency". `share` is the part of what the roof allows at that intensity; it and
    `ridge` are None where a roof is not known.
    """

    name: str
    gpu: str
    precision: str
    memory: str
    flops: int
    nbytes: float
    seconds: float
    measured: bool
    limiter: str
    share: float | None
    ridge: float | None

    @property
    def intensity(self) -> float:
        """FLOP a byte."""
        return self.flops / self.nbytes

    @property
    def rate(self) -> float:
        """FLOP/s that it attains."""
        return self.flops / self.seconds

    @property
    def state(self) -> str:
        """What it is bound by: "memory", "compute" or "latency"."""
        return "latency" if self.limiter in _WAITING else "memory" if self.limiter in _MOVING else "compute"

    def __repr__(self) -> str:
        kind = "measured" if self.measured else "modelled"
        where = "" if self.memory == "DRAM" else f" of {self.memory}"
        share = "roof not known" if self.share is None else f"{self.share:.0%} of roof"
        return (  # a line of a notebook on a small screen
            f"{self.name} on {self.gpu}: counted {self.intensity:.3g} FLOP/B{where}; {kind} "
            f"{seconds_text(self.seconds)}, {rate_text(self.rate)}, {share}; "
            f"{self.state}-bound: {self.limiter}"
        )


def place(
    profile: Profile, gpu: GPU | str | None = None, memory: str = "DRAM", seconds: float | None = None
) -> PlacedLaunch:
    """Where a profiled launch stands under the roof of the units that do most of its FLOPs.

    `gpu`: a row or a name, else the profile's own. `memory`: where its bytes are counted. `seconds`: a measured time
    to use instead of the modelled one. A launch without FLOPs has intensity 0 and a share of the bandwidth.
    Where no document gives one of the roofs, share and ridge are None. Raises ValueError where no bytes were moved.
    """
    seen = profile if gpu is None or gpu is profile.gpu else profile.on(gpu)
    by_unit = flops_by_unit(seen.counters.total)
    precision = max(by_unit, key=by_unit.__getitem__, default="fp32")
    flops, nbytes = sum(by_unit.values()), bytes_moved(seen.counters, memory)
    took = seen.model.seconds if seconds is None else seconds
    share = ridge = None
    if not roofs_missing(seen.gpu, precision, memory):
        point = roofline(flops, nbytes, seen.gpu, precision, memory)
        slope = nbytes / took / bandwidth(seen.gpu, memory)
        share = slope if point.bound == "memory" else flops / took / point.attainable
        ridge = point.ridge
    elif nbytes <= 0:
        raise ValueError("a roofline needs the bytes a kernel moves; 0 bytes have no intensity")
    return PlacedLaunch(
        seen.name, seen.gpu.name, precision, memory, flops, nbytes, took, seconds is not None, seen.model.bound, share,
        ridge,
    )  # fmt: skip


def rate_text(rate: float, unit: str = "FLOP/s") -> str:
    """A rate with the prefix that suits it, three significant digits: `8.16 TFLOP/s`."""
    for scale, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= 0.9995 * scale:
            return f"{rate / scale:.3g} {prefix}{unit}"
    return f"{rate:.3g} {unit}"


# Programs write `roofline.place(profile)`, whether they have this module or the function.
setattr(roofline, "place", place)  # noqa: B010 (a function has no attributes for mypy)
