"""Clusters of blocks in the reference interpreter: ranks, addresses of other blocks' shared memory, the barrier.

Source: NVIDIA's "PTX ISA", state spaces, `mapa`, `getctarank` and `barrier.cluster`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vgpu import isa
from vgpu.ptx import Instruction

if TYPE_CHECKING:
    from vgpu.reference import Block
    from vgpu.reference.machine import Index
    from vgpu.reference.warp import Frame, Warp

RANK_SHIFT = 24  # of a `shared::cluster` address: a rank plus 1 (0: the block itself), above an offset
SPACE = "shared::cluster"
U32, U64 = isa.TYPES["u32"], isa.TYPES["u64"]


class Cluster:
    """The blocks that run together, by rank; `member` starts one that hasn't been yet."""

    def __init__(self, shape: Index, number: Index, member: Callable[[Index], Block]):
        self.shape, self.number, self.size = shape, number, math.prod(shape)
        self.phase = 0
        self._member = member

    def rank(self, index: Index) -> int:
        x, y, z = (i % n for i, n in zip(index, self.shape, strict=True))
        return x + self.shape[0] * (y + self.shape[1] * z)

    def block(self, rank: int) -> Block | None:
        """The block of a rank; None where there is none, or it has ended."""
        found = self._of_rank(rank) if 0 <= rank < self.size else None
        return None if found is None or found.over else found

    def _of_rank(self, rank: int) -> Block:
        wide, high, _ = self.shape
        inside = (rank % wide, rank // wide % high, rank // (wide * high))
        x, y, z = (c * n + i for c, n, i in zip(self.number, self.shape, inside, strict=True))
        return self._member((x, y, z))

    def members(self) -> list[Block]:
        """Its blocks, including those that have ended."""
        return [self._of_rank(rank) for rank in range(self.size)]

    def blocks(self) -> list[Block]:
        """Those that have begun and not ended."""
        return [block for rank in range(self.size) if (block := self.block(rank)) is not None]

    def windows(self, own: Block) -> list[tuple[int, int]]:
        """(rank, host address of the shared memory) of each block but `own`."""
        others = ((rank, self.block(rank)) for rank in range(self.size) if rank != self.rank(own.index))
        return [(rank, int(block.shared.base)) for rank, block in others if block is not None]

    def all_arrived(self) -> bool:
        """Whether no live thread is missing in the current phase."""
        warps = [warp for block in self.blocks() for warp in block.warps]
        return not any((warp.live & (warp.cluster_phase != self.phase + 1)).any() for warp in warps)


def placed(block: Block, address: int) -> tuple[Block, int]:
    """The block in whose shared memory a `shared::cluster` address lies, and the offset there (-1: in none)."""
    rank, offset = (address >> RANK_SHIFT) - 1, address & (1 << RANK_SHIFT) - 1
    if address < 0 or rank in (-1, block.cluster.rank(block.index)):
        return block, address if address < 0 else offset
    other = block.cluster.block(rank)
    return (block, -1) if other is None else (other, offset)


def address_of(rank: int, address: int) -> int:
    """The same place in the shared memory of the block of a rank."""
    return (rank + 1 << RANK_SHIFT) | address & (1 << RANK_SHIFT) - 1


def _base(warp: Warp, rank: int) -> int:
    block = warp.block.cluster.block(rank)
    return 2**64 - 1 if block is None else int(block.shared.base)


def hosts(warp: Warp, addresses: np.ndarray) -> np.ndarray:
    """Host addresses of places in the cluster's shared memory."""
    found = np.zeros_like(addresses)
    own = warp.block.cluster.rank(warp.block.index)
    for lane, address in enumerate(addresses.tolist()):
        rank, offset = (address >> RANK_SHIFT) - 1, address & (1 << RANK_SHIFT) - 1
        base = int(warp.block.shared.base) if rank in (-1, own) else _base(warp, rank)
        found[lane] = min(base + offset, 2**64 - 1)
    return found


def short(warp: Warp, addresses: np.ndarray) -> np.ndarray:
    """Generic addresses as those of the cluster's shared memory."""
    block = warp.block
    found = addresses - np.uint64(block.shared.base)
    for rank, base in block.cluster.windows(block):
        offsets = addresses - np.uint64(base)
        inside = offsets < np.uint64(block.shared_bytes)
        found = np.where(inside, offsets + np.uint64(rank + 1 << RANK_SHIFT), found)
    return found


def inside(warp: Warp, addresses: np.ndarray) -> np.ndarray:
    """Which generic addresses lie in the shared memory of any block of the cluster."""
    bases = [int(warp.block.shared.base), *(base for _, base in warp.block.cluster.windows(warp.block))]
    return np.any([addresses - np.uint64(base) < np.uint64(warp.block.shared_bytes) for base in bases], axis=0)


def address(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`mapa` and `getctarank`."""
    target, source, *rank = instruction.operands
    kind = U32 if SPACE in instruction.modifiers else U64
    value, cluster = warp.read(frame, source, kind), warp.block.cluster
    own = cluster.rank(warp.block.index)
    if instruction.opcode == "getctarank":
        places = value.astype(np.uint64) if kind is U32 else short(warp, value)
        named = np.where(places >> np.uint64(RANK_SHIFT) <= cluster.size, places >> np.uint64(RANK_SHIFT), 0)
        warp.write(frame, target, np.where(named == 0, own, named - 1).astype(np.uint32), U32, mask)
        return
    ranks = warp.read(frame, rank[0], U32)
    if kind is U32:
        found = (ranks + np.uint32(1) << np.uint32(RANK_SHIFT)) | (value & np.uint32((1 << RANK_SHIFT) - 1))
    else:
        offsets = (value - np.uint64(warp.block.shared.base)).tolist()
        bases = {number: _base(warp, number) for number in np.unique(ranks[mask]).tolist()}
        found = np.array(
            [min(bases.get(n, 2**64 - 1) + at, 2**64 - 1) for n, at in zip(ranks.tolist(), offsets, strict=True)],
            np.uint64,
        )
    warp.write(frame, target, found, kind, mask)


def barrier(warp: Warp, words: tuple[str, ...], mask: np.ndarray) -> None:
    """`barrier.cluster.arrive` and `.wait`; lanes that wait stay where they are."""
    cluster, machine = warp.block.cluster, warp.block.machine
    if "arrive" in words:
        warp.cluster_phase[mask] = cluster.phase + 1
        machine.writes += 1
        warp.pc[mask] += 1
        return
    done = mask & (warp.cluster_phase <= cluster.phase)
    if not done.any() and cluster.all_arrived():
        cluster.phase += 1
        machine.writes += 1
        done = mask
    warp.pc[done] += 1
    if (mask & ~done).any():
        machine.note_spin(warp)
        warp.block.stalls = True  # other lanes may go on: many rounds without progress before that is a deadlock


ACTIONS = {"cluster": address}
