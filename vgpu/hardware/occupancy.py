"""Theoretical occupancy: how many warps of a kernel fit on one SM, and which resource says so.

Pure arithmetic on what the compiler reports and on a row of `gpus.py`. The rules are those of NVIDIA's
`cuda_occupancy.h` (CUDA 13), with the L1 cache giving way to shared memory as far as it can:

- registers are allocated per warp, in units of 256, from the quarter of the SM that the warp belongs to;
- shared memory is given out per block in units of 128 bytes (256 before compute capability 8.0), after 1 KiB
  that the driver keeps for itself in every block (none before 8.0);
- a block takes whole warps, and an SM holds so many warps and so many blocks at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType

from vgpu.hardware.gpus import GPU


@dataclass(frozen=True, repr=False)
class Occupancy:
    """Blocks and warps resident on one SM, and the most blocks that each used resource alone would allow."""

    gpu: str
    threads_per_block: int
    registers: int
    shared_bytes: int
    blocks_per_sm: int
    warps_per_sm: int
    max_warps_per_sm: int
    limits: Mapping[str, int]
    registers_per_block: int
    shared_bytes_per_block: int

    @property
    def fraction(self) -> float:
        """Resident warps over the most warps an SM can hold, 0 to 1."""
        return self.warps_per_sm / self.max_warps_per_sm

    @property
    def limiters(self) -> tuple[str, ...]:
        """The resources that allow no further block: more than one where they tie."""
        return tuple(name for name, blocks in self.limits.items() if blocks == self.blocks_per_sm)

    @property
    def limiter(self) -> str:
        """The limiting resources in words, such as "registers" or "warps and registers"."""
        return " and ".join(self.limiters)

    def __repr__(self) -> str:
        return (
            f"Occupancy({self.fraction:.1%} on {self.gpu}: {self.blocks_per_sm} blocks, "
            f"{self.warps_per_sm} of {self.max_warps_per_sm} warps an SM; limited by {self.limiter})"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row">{name}</th><td>{blocks}</td><td>{"limits" if name in self.limiters else ""}</td></tr>'
            for name, blocks in self.limits.items()
        )
        caption = (
            f'<caption style="text-align:left;white-space:nowrap">{escape(self.gpu)}: occupancy {self.fraction:.1%}, '
            f"{self.warps_per_sm} of {self.max_warps_per_sm} warps an SM (compiler numbers and data sheet)</caption>"
        )
        titles = ("resource", "blocks it allows", "role")
        head = "".join(f'<th scope="col">{title}</th>' for title in titles)
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def registers_a_warp(registers: int, gpu: GPU) -> int:
    """The registers that a warp is given, of which each thread uses so many."""
    return _round_up(registers * gpu.warp_size, gpu.register_granularity)


def most_threads(registers: int, gpu: GPU) -> int:
    """The biggest block whose registers fit; an SM's partitions get equal shares of its warps."""
    warps = gpu.registers_per_block // registers_a_warp(max(registers, 1), gpu)
    warps -= warps % gpu.partitions_per_sm
    return min(gpu.threads_per_block, warps * gpu.warp_size)


def occupancy(registers: int, shared_bytes: int, threads_per_block: int, gpu: GPU) -> Occupancy:
    """Occupancy of a kernel on `gpu`.

    `registers` are per thread; `shared_bytes` is all the shared memory of a block, static and dynamic
    together, in bytes. A kernel that cannot be launched at all (too many registers, too much shared memory)
    has 0 blocks. Raises ValueError for a block size no GPU takes.
    """
    if not 1 <= threads_per_block <= gpu.threads_per_block:
        raise ValueError(
            f"a block of {threads_per_block} threads: a block has 1 to {gpu.threads_per_block} of them. "
            "Use more blocks instead of bigger ones."
        )
    if registers < 0 or shared_bytes < 0:
        raise ValueError("registers and shared_bytes are counts: they cannot be negative")
    warps = -(-threads_per_block // gpu.warp_size)

    limits = {"warps": gpu.warps_per_sm // warps, "blocks": gpu.blocks_per_sm}

    per_warp = registers_a_warp(registers, gpu)
    # The launch check takes registers from all partitions alike, so it rounds a block's warps up to them.
    checked = per_warp * _round_up(warps, gpu.partitions_per_sm)
    if registers > gpu.registers_per_thread_limit or checked > gpu.registers_per_block:
        limits["registers"] = 0
    elif per_warp:
        per_partition = gpu.registers_per_sm // gpu.partitions_per_sm
        limits["registers"] = (per_partition // per_warp) * gpu.partitions_per_sm // warps

    shared = _round_up(shared_bytes + gpu.shared_reserved, gpu.shared_granularity)
    if shared_bytes > gpu.shared_optin_limit:
        limits["shared memory"] = 0
    elif shared:
        limits["shared memory"] = gpu.shared_per_sm // shared

    blocks = min(limits.values())
    return Occupancy(
        gpu=gpu.name,
        threads_per_block=threads_per_block,
        registers=registers,
        shared_bytes=shared_bytes,
        blocks_per_sm=blocks,
        warps_per_sm=blocks * warps,
        max_warps_per_sm=gpu.warps_per_sm,
        limits=MappingProxyType(limits),
        registers_per_block=per_warp * warps,
        shared_bytes_per_block=shared,
    )
