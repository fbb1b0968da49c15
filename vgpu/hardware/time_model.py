"""The time a launch would take on a GPU, modelled from its counters and the GPU's row: one page of code.

`TIME_MODEL.md`, beside this file, is the page that explains it; how far it is off, kernel by kernel, stands in
`validation/TABLE.md`. The launch is paid first; then every resource works, and the slowest of them gives its name to
the `bound`. The others are hidden behind it, the less so the longer they take themselves. So the model says what a
kernel is up against.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Protocol

from vgpu.hardware.gpus import GPU
from vgpu.hardware.occupancy import Occupancy

SECTOR_BYTES, LINE_BYTES, WARP_LANES = 32, 128, 32
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))

# The only constants that no row of `gpus.py` has; each holds for every GPU. TIME_MODEL.md says where they are from.
DRAM_EFFICIENCY = 0.83  # of the data sheet's bandwidth
DRAM_CYCLES, L2_CYCLES, SHARED_CYCLES = 450, 200, 23  # from a load to the first use of its value
LOADS_IN_FLIGHT = 4  # independent loads of one warp, at most
INDEPENDENT_INSTRUCTIONS = 2  # of one warp, on average
DIVISION_INSTRUCTIONS = 20  # what a division or remainder of integers becomes
BARRIER_LANES = 16  # threads that pass a barrier in a clock, on one SM
OVERLAP = 3  # the power with which the times of resources add

_GLOBAL = ("global_load", "global_store", "global_atomic", "global_copy", "local_load", "local_store")
_TEXELS = ("texture", "surface_load", "surface_store")
_LOADS = tuple(f"{op}_requests" for op in ("global_load", "global_atomic", "local_load", "texture", "surface_load"))
_WAVEFRONTS = tuple(f"shared_{op}_wavefronts" for op in ("load", "store", "atomic", "copy"))
_BULK = ("bulk_load_bytes", "bulk_store_bytes")
# Products of the tensor cores, by counter, and the peak that a row has for them.
_TENSOR = {
    "flops_tensor_fp16": "fp16_tensor_flops",
    "flops_tensor_bf16": "fp16_tensor_flops",
    "flops_tensor_tf32": "tf32_tensor_flops",
    "flops_tensor_fp8": "fp8_tensor_flops",
    "flops_tensor_fp4": None,
    "flops_tensor_fp64": "fp64_tensor_flops",
    "ops_tensor_int8": "int8_tensor_ops",
    "ops_tensor_int4": None,
    "ops_tensor_b1": None,
}
_ASSUMPTIONS = (
    "The slowest resource is the bound, and it hides most of the others' time: times add as their cubes.",
    f"DRAM delivers {DRAM_EFFICIENCY:.0%} of the data sheet's bandwidth.",
    "Repeated requests hit L2 more often if more of the footprint fits: misses fall with the square root of the "
    "cache's size.",
    "Requests take one pass of L1 per line of 128 bytes; lines are estimated from sectors and bytes.",
    "Instructions are PTX, one issue slot each; the machine code has other, often fewer, instructions.",
    f"A division or remainder of integers is {DIVISION_INSTRUCTIONS} of them.",
    "FLOPs run at the rate of fused multiply-adds, two each; sums and products alone take twice as long.",
    f"An SM lets {BARRIER_LANES} threads a clock pass barriers.",
    "Atomics cost their sectors only; conflicts on one address are not modelled.",
    "Asynchronous and bulk copies cost their bytes, and no thread waits for them.",
    "The SM with most work has ceil(blocks / SMs) equal blocks and sets the time of all that an SM does.",
)


def seconds_text(seconds: float) -> str:
    """A time in the unit that suits it, three significant digits."""
    for scale, unit in _UNITS:
        if seconds >= 0.9995 * scale:  # what rounds to one of a unit is written in it: 1 µs, not 1e+03 ns
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


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
            f"<td>{'the bound' if name == self.bound else ''}</td></tr>"
            for name, value in self.terms.items()
        )
        notes = "".join(f"<li>{escape(line)}</li>" for line in self.assumptions)
        return (
            "<table><caption style='text-align:left;white-space:nowrap'>"
            f"{escape(self.gpu)}: <strong>modelled</strong> {seconds_text(self.seconds)}, "
            f"bound by {escape(self.bound)}</caption><thead><tr><th scope='col'>term</th>"
            f"<th scope='col'>alone it would take</th><th scope='col'>role</th></tr></thead>"
            f"<tbody>{rows}</tbody></table><details><summary>Assumptions</summary><ul>{notes}</ul></details>"
        )


class Footprint(Protocol):
    @property
    def read_bytes(self) -> float: ...
    @property
    def written_bytes(self) -> float: ...


class CountedLaunch(Protocol):
    """The part of `launch.counters.Counters` that the model uses."""

    @property
    def total(self) -> Mapping[str, float]: ...
    @property
    def footprint(self) -> Footprint: ...
    @property
    def grid(self) -> tuple[int, int, int]: ...
    @property
    def warps(self) -> float: ...


def model_time(counters: CountedLaunch, occupancy: Occupancy | None, gpu: GPU) -> Model:
    """The time a launch with these counters would take on `gpu`, in seconds, term by term.

    `counters` has `.total` (key → count), `.footprint` (`read_bytes`, `written_bytes`), `.grid` and `.warps`.
    `occupancy` gives the waves and what hides latency; None leaves both out. A kernel that does not fit takes inf.
    """
    total, assumptions, blocks = counters.total, list(_ASSUMPTIONS), math.prod(counters.grid)
    # What the busiest SM does, as a share of everything, for one clock of each SM.
    cycle = math.ceil(blocks / gpu.sms) / blocks / gpu.clock
    requested = l2_bytes(total)
    dram = _dram_bytes(counters.footprint, requested, gpu, assumptions)

    terms = {"launch": gpu.launch_overhead, "DRAM": dram / (gpu.memory_bandwidth * DRAM_EFFICIENCY)}
    if gpu.l2_bandwidth is None:
        assumptions.append(f"No document gives the L2 bandwidth of {gpu.name}: that term is left out.")
    else:
        terms["L2"] = requested / gpu.l2_bandwidth
        assumptions.append("Every sector of every request comes from L2: hits in L1 are not modelled.")
    terms["L1 and shared memory"] = l1_bytes(total) / gpu.shared_bytes_per_clock * cycle
    terms["issue"] = _instructions(total) / gpu.issue_per_clock * cycle
    terms["barriers"] = total.get("barriers", 0) * WARP_LANES / BARRIER_LANES * cycle
    for precision in ("fp16", "fp32", "fp64"):
        lanes = getattr(gpu, f"{precision}_lanes_per_sm")
        terms[precision.upper()] = total[f"flops_{precision}"] / (2 * lanes) * cycle
    terms["special functions"] = total.get("special_functions", 0) / gpu.special_lanes_per_sm * cycle
    for key, column in _TENSOR.items():
        flops, name, peak = total.get(key, 0), key.rpartition("_")[2].upper(), column and getattr(gpu, column)
        if flops and peak:
            terms[f"tensor {name}"] = flops / (peak / (gpu.sms * gpu.clock)) * cycle
        elif flops:
            assumptions.append(f"The table has no peak of {gpu.name}'s tensor cores for {name}: that term is left out.")

    waves = None
    if occupancy is not None and occupancy.blocks_per_sm:
        waves = blocks / (occupancy.blocks_per_sm * gpu.sms)
        terms["latency"] = math.ceil(waves) * _chain(counters, min(1, dram / max(requested, 1)), gpu) / gpu.clock
        assumptions.append(
            f"A warp has up to {LOADS_IN_FLIGHT} loads and {INDEPENDENT_INSTRUCTIONS} instructions in flight; "
            "other warps of the SM fill the gaps, and a wave of blocks ends before the next one begins."
        )
    busiest = max((name for name in terms if name != "launch"), key=lambda name: terms[name])
    # Counts that were extrapolated from small runs may come out below 0.
    together = sum(max(0, time) ** OVERLAP for name, time in terms.items() if name != "launch") ** (1 / OVERLAP)
    seconds, bound = terms["launch"] + together, busiest if terms[busiest] >= terms["launch"] else "launch"
    if occupancy is not None and not occupancy.blocks_per_sm:
        seconds, bound = math.inf, f"{occupancy.limiter}: the kernel does not fit"
    return Model(gpu.name, seconds, bound, MappingProxyType(terms), waves, tuple(assumptions))


def l2_bytes(total: Mapping[str, float]) -> float:
    """Bytes requested from L2: the sectors of all requests, and bulk copies."""
    sectors = sum(total.get(f"{op}_sectors", 0) for op in _GLOBAL + _TEXELS)
    return sectors * SECTOR_BYTES + sum(total.get(key, 0) for key in _BULK) - total.get("bulk_cluster_bytes", 0)


def l1_bytes(total: Mapping[str, float]) -> float:
    """Bytes that L1 and shared memory could have moved in the passes they take: 128 for each line and wavefront."""
    passes = sum(_lines(total, op) for op in _GLOBAL + _TEXELS) + sum(total.get(key, 0) for key in _WAVEFRONTS)
    return LINE_BYTES * passes + sum(total.get(key, 0) for key in _BULK)


def _dram_bytes(footprint: Footprint, requested: float, gpu: GPU, assumptions: list[str]) -> float:
    """DRAM traffic: the footprint times the square root of how many L2s it would fill, at most the requested bytes."""
    compulsory = footprint.read_bytes + footprint.written_bytes
    if gpu.l2_bytes is None:
        assumptions.append(f"No document gives the L2 size of {gpu.name}: DRAM serves each sector once.")
        return compulsory
    return max(compulsory, min(requested, compulsory * math.sqrt(max(1, compulsory / max(gpu.l2_bytes, 1)))))


def _instructions(total: Mapping[str, float]) -> float:
    """Issue slots, per warp."""
    return total["instructions"] + (DIVISION_INSTRUCTIONS - 1) * total.get("integer_divisions", 0)


def _lines(total: Mapping[str, float], op: str) -> float:
    """Lines of 128 bytes that requests touch: a quarter of the sectors if all bytes are used, else up to each."""
    sectors = total.get(f"{op}_sectors", 0)
    nbytes = total.get("async_copy_bytes" if op == "global_copy" else f"{op}_bytes", 0)
    used = min(1, nbytes / (sectors * SECTOR_BYTES)) if sectors else 1
    # Atomics and local memory have no count of bytes: local memory is laid out for whole lines, atomics scatter.
    used = 0 if op == "global_atomic" else used if op.startswith("global") else 1
    return max(total.get(f"{op}_requests", 0), sectors * (1 - 0.75 * used))


def _chain(counters: CountedLaunch, missing: float, gpu: GPU) -> float:
    """Clocks that one warp needs from start to end, on average, when nothing else is in its way."""
    total, warps = counters.total, counters.warps
    phases = total.get("barriers", 0) / warps + 1

    def rounds(loads: float) -> float:
        """Loads one after another; those between two barriers go abreast."""
        return loads / warps / min(LOADS_IN_FLIGHT, max(1, loads / warps / phases))

    memory = rounds(sum(total.get(key, 0) for key in _LOADS)) * (missing * DRAM_CYCLES + (1 - missing) * L2_CYCLES)
    shared = rounds(total.get("shared_load_requests", 0)) * SHARED_CYCLES
    return memory + shared + _instructions(total) / warps / INDEPENDENT_INSTRUCTIONS * gpu.instruction_latency
