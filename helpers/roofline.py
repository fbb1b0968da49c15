"""The roofline, and the time a kernel would take on a GPU: modelled from counts, never measured.

A kernel's time is taken as its launch plus the slowest of the things the GPU does for it, as if everything
else were hidden behind that one. Each assumption is listed in the `Model` it went into. Such a model is a
yardstick ("what would be the limit, and by how much?"), and it is optimistic by design.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType

from helpers.callable_module import callable_module
from helpers.gpus import GPU
from helpers.occupancy import Occupancy

SECTOR_BYTES = 32
_ATTAINABLE_UNITS = ("fp16", "fp32", "fp64")
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def seconds_text(seconds: float) -> str:
    """A time in the unit that suits it, three significant digits."""
    for scale, unit in _UNITS:
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


@dataclass(frozen=True, repr=False)
class Point:
    """A kernel on the roofline: FLOPs a byte, the FLOP/s the roof allows there, and which roof that is."""

    gpu: str
    precision: str
    intensity: float
    attainable: float
    ridge: float

    @property
    def bound(self) -> str:
        """ "memory" to the left of the ridge, "compute" from it on."""
        return "memory" if self.intensity < self.ridge else "compute"

    def __repr__(self) -> str:
        return (
            f"Point(modelled on {self.gpu}: {self.intensity:.3g} FLOP/byte allow "
            f"{self.attainable / 1e9:.4g} GFLOP/s {self.precision.upper()}, {self.bound}-bound; "
            f"ridge at {self.ridge:.3g} FLOP/byte)"
        )


def roofline(flops: float, nbytes: float, gpu: GPU, precision: str = "fp32") -> Point:
    """Where a kernel of so many FLOPs and bytes of DRAM traffic stands under `gpu`'s roof.

    `precision` is "fp16", "fp32" or "fp64" (ordinary units) or "fp16_tensor", "tf32_tensor", "fp8_tensor".
    Raises ValueError where the GPU has no such unit or there are no bytes. Source: Williams, Waterman and
    Patterson, Roofline, Communications of the ACM 52(4), 2009, https://doi.org/10.1145/1498765.1498785
    """
    if nbytes <= 0:
        raise ValueError("a roofline needs the bytes a kernel moves; 0 bytes have no intensity")
    peak = peak_flops(gpu, precision)
    intensity = flops / nbytes
    return Point(
        gpu=gpu.name,
        precision=precision,
        intensity=intensity,
        attainable=min(peak, intensity * gpu.memory_bandwidth),
        ridge=peak / gpu.memory_bandwidth,
    )


def peak_flops(gpu: GPU, precision: str = "fp32") -> float:
    """The flat roof of `gpu` in FLOP/s for ordinary or tensor units."""
    if precision in _ATTAINABLE_UNITS:
        return gpu.peak(precision)
    peak = getattr(gpu, f"{precision}_flops", None)
    if peak is None:
        raise ValueError(f"{gpu.name} has no published peak for {precision!r}")
    return peak


@dataclass(frozen=True, repr=False)
class Model:
    """A modelled time: `seconds`, the `bound` that sets it, every term in seconds, and the assumptions."""

    gpu: str
    seconds: float
    bound: str
    terms: Mapping[str, float]
    waves: float | None
    assumptions: tuple[str, ...]

    def __repr__(self) -> str:
        terms = ", ".join(f"{name} {seconds_text(value)}" for name, value in self.terms.items() if value)
        return f"Model(modelled {seconds_text(self.seconds)} on {self.gpu}, bound by {self.bound}: {terms})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row">{escape(name)}</th><td>{seconds_text(value)}</td>'
            f"<td>{'sets the time' if name == self.bound else ''}</td></tr>"
            for name, value in self.terms.items()
        )
        notes = "".join(f"<li>{escape(line)}</li>" for line in self.assumptions)
        return (
            f"<table><caption>{escape(self.gpu)}: <strong>modelled</strong> {seconds_text(self.seconds)}, "
            f"bound by {escape(self.bound)}</caption><thead><tr><th scope='col'>term</th>"
            f"<th scope='col'>alone it would take</th><th scope='col'>role</th></tr></thead>"
            f"<tbody>{rows}</tbody></table><details><summary>Assumptions</summary><ul>{notes}</ul></details>"
        )


_ASSUMPTIONS = (
    "Everything but the slowest term is hidden behind it: enough warps are ready at all times.",
    "Instructions are PTX, one issue slot each; the machine code has other, often fewer, instructions.",
    "FLOPs run at the rate of fused multiply-adds, two each; sums and products alone take twice as long.",
    "Atomics cost their sectors only; conflicts on one address are not modelled.",
    "The SM with most work has ceil(blocks / SMs) equal blocks and sets the time of all that an SM does.",
)
_L2_SECTORS = tuple(
    f"{space}_{op}_sectors"
    for space, op in (
        ("global", "load"),
        ("global", "store"),
        ("global", "atomic"),
        ("local", "load"),
        ("local", "store"),
    )
)
_WAVEFRONTS = ("shared_load_wavefronts", "shared_store_wavefronts", "shared_atomic_wavefronts")


def model_time(counters, occupancy: Occupancy | None, gpu: GPU) -> Model:
    """The time a launch with these counters would take on `gpu`, in seconds, term by term.

    `counters` has `.total` (key → count), `.footprint` (`read_bytes`, `written_bytes`) and `.grid`.
    `occupancy` gives the number of waves; None leaves it unknown. A kernel that does not fit takes inf.
    """
    total, assumptions = counters.total, list(_ASSUMPTIONS)
    blocks = math.prod(counters.grid)
    # What the busiest SM does, as a share of everything.
    share = math.ceil(blocks / gpu.sms) / blocks
    cycle = share / gpu.clock

    sectors = sum(total[key] for key in _L2_SECTORS) * SECTOR_BYTES
    dram = _dram_bytes(counters.footprint, sectors, gpu, assumptions)
    terms = {"launch": gpu.launch_overhead, "DRAM": dram / gpu.memory_bandwidth}
    if gpu.l2_bandwidth is None:
        assumptions.append(f"No document gives the L2 bandwidth of {gpu.name}: that term is left out.")
    else:
        terms["L2"] = sectors / gpu.l2_bandwidth
        assumptions.append("Every sector of every request comes from L2: hits in L1 are not modelled.")
    terms["shared memory"] = sum(total[key] for key in _WAVEFRONTS) * cycle
    terms["issue"] = total["instructions"] / gpu.partitions_per_sm * cycle
    for precision in _ATTAINABLE_UNITS:
        lanes = getattr(gpu, f"{precision}_lanes_per_sm")
        terms[precision.upper()] = total[f"flops_{precision}"] / (2 * lanes) * cycle

    busiest = max((name for name in terms if name != "launch"), key=terms.get)
    bound = busiest if terms[busiest] >= terms["launch"] else "launch"
    seconds, waves = terms["launch"] + terms[busiest], None
    if occupancy is not None and occupancy.blocks_per_sm == 0:
        seconds, bound = math.inf, f"{occupancy.limiter}: the kernel does not fit"
    elif occupancy is not None:
        waves = blocks / (occupancy.blocks_per_sm * gpu.sms)
    return Model(gpu.name, seconds, bound, MappingProxyType(terms), waves, tuple(assumptions))


def _dram_bytes(footprint, sector_bytes: int, gpu: GPU, assumptions: list[str]) -> int:
    """DRAM traffic: what the kernel touches, once; or all it asks for when that cannot stay in L2."""
    compulsory = footprint.read_bytes + footprint.written_bytes
    if gpu.l2_bytes is None:
        assumptions.append(f"No document gives the L2 size of {gpu.name}: DRAM serves each sector once.")
        return compulsory
    if compulsory <= gpu.l2_bytes:
        assumptions.append("What the kernel touches fits in L2, so DRAM serves each sector once.")
        return compulsory
    assumptions.append("What the kernel touches exceeds L2, so DRAM serves every sector of every request.")
    return max(compulsory, sector_bytes)


callable_module(__name__)
