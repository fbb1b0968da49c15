"""A worker thread's context, and the slots of its resident blocks: plain memory that compiled code works on."""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING

import numpy as np

from vgpu.base.context import (
    BARRIER_BYTES,
    CONTEXT,
    COPIES,
    QUEUE_BYTES,
    RESIDENT,
    RESIDENT_BYTES,
    RESIDENT_SLOT,
    SITE_BYTES,
    SITE_SLOT,
    SLOT,
    TENSOR_MEMORY_BYTES,
    TEXTURE_BYTES,
)
from vgpu.launch import host_calls
from vgpu.lower.tallies import BASIC_BLOCK_SLOTS
from vgpu.runtime.cluster import NOWHERE
from vgpu.storage import layout

if TYPE_CHECKING:
    from vgpu.launch.grid import Grid
    from vgpu.launch.running import Running

LANES = 32
WINDOW = 128  # unused bytes past the end of shared memory


def aligned(nbytes: int, alignment: int = 64) -> np.ndarray:
    """Zeroed bytes whose address is a multiple of `alignment`."""
    raw = np.zeros(nbytes + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start : start + nbytes]


def _lay_out(sizes: dict[str, int], alignment: int) -> tuple[np.ndarray, dict[str, int]]:
    """One buffer for areas of these sizes, and the offset of each; `alignment` is that of shared memory."""
    offsets, end = _offsets(tuple(sizes.items()), alignment)
    return aligned(end, alignment), offsets


@functools.lru_cache(maxsize=256)
def _offsets(sizes: tuple[tuple[str, int], ...], alignment: int) -> tuple[dict[str, int], int]:
    offsets, end = {}, 0
    for name, nbytes in sizes:
        end = layout.align_up(end, alignment if name == "shared" else 256)
        offsets[name], end = end, end + nbytes
    return offsets, end


def block_areas(run: Running) -> dict[str, int]:
    """The bytes of each area that a resident block has."""
    return {
        "states": run.warps * run.lowered.state_bytes, "local": run.warps * LANES * run.lowered.local_bytes,
        "barriers": BARRIER_BYTES, "copies": run.warps * QUEUE_BYTES + COPIES if run.asynchronous else 0,
        "cluster_lanes": run.warps * LANES * 4 if run.together > 1 or run.lowered.spins else 0,
        "tensor_memory": TENSOR_MEMORY_BYTES if run.has_tensor_memory else 0,
        # The runtime reads up to WINDOW bytes at a time, so as many follow the last byte.
        "shared": run.shared_bytes + WINDOW,
    }  # fmt: skip


class Worker:
    """One worker thread's context and buffers, in one allocation with the memory of the first resident block."""

    def __init__(self, run: Grid):
        # No reference to the launch: a cycle would keep both, and their memory, until garbage collection.
        lowered, self.warps, self.state_bytes = run.lowered, run.warps, run.lowered.state_bytes
        self.areas, self.alignment = block_areas(run), run.shared_alignment
        areas = self.areas
        own = {
            "slots": 8 * len(CONTEXT), "sites": SITE_BYTES * max(1, len(lowered.sites)),
            "basic_blocks": 8 * BASIC_BLOCK_SLOTS * len(lowered.basic_blocks), "table": RESIDENT_BYTES,
            "host_data": 1024, "texture_data": TEXTURE_BYTES,
        }  # fmt: skip
        whole, offsets = _lay_out({**own, **areas}, self.alignment)
        start = whole.ctypes.data
        buffers = {name: whole[offsets[name] : offsets[name] + nbytes] for name, nbytes in own.items()}
        self.sites, self.basic_blocks = buffers["sites"], buffers["basic_blocks"]
        self.host_data, self.texture_data = buffers["host_data"], buffers["texture_data"]
        self.allocations, self.own = [whole], whole[: offsets["states"]]
        self.pointer = start + offsets["slots"]
        self.slots, self.table = buffers["slots"].view(np.int64), buffers["table"].view(np.int64).reshape(1, -1)
        fresh = self.sites.view(np.int64).reshape(-1, SITE_BYTES // 8)
        fresh[:, [SITE_SLOT["base"], SITE_SLOT["mask"]]] = -1  # no allocation and no pattern seen yet
        at = self._addresses(start, offsets)
        self._set_resident(0, at)
        values = run.slots | {
            "shared_base": at["shared"], "local_base": at["local"], "sites": at["sites"], "states": at["states"],
            "basic_blocks": at["basic_blocks"], "barriers": at["barriers"], "host_data": at["host_data"],
            "copies": at["copies"], "cluster_lanes": at["cluster_lanes"], "tensor_memory": at["tensor_memory"],
            "texture_data": at["texture_data"], "resident_table": at["table"],
            "resident_slots": 1,
        }  # fmt: skip
        self.slots[[SLOT[name] for name in values]] = list(values.values())
        self.callback = None
        if any(site.kind in ("host", "heap") for site in lowered.sites):
            self.callback = host_calls.callback(self, run)
            self["host"] = ctypes.cast(self.callback, ctypes.c_void_p).value or 0
        self.nbytes = len(whole)
        self.first = self.own.copy() if run.plain else None
        self._begin()

    def _begin(self) -> None:
        self.active, self.running = True, False
        self.idle_at, self.spun = -1, 0

    def begin_again(self, changed: dict[str, int]) -> None:
        """Begin another launch of the same grid; `changed` are the slots whose values are others from now on."""
        assert self.first is not None, "only plain launches are repeated"
        self.own[:] = self.first
        if changed:
            for name, value in changed.items():
                self[name] = value
            self.first[:] = self.own
        self._begin()

    def __getitem__(self, name: str) -> int:
        return int(self.slots[SLOT[name]])

    def __setitem__(self, name: str, value: int) -> None:
        self.slots[SLOT[name]] = value

    def _addresses(self, start: int, offsets: dict[str, int]) -> dict[str, int]:
        """Where each area lies; 0 for those that few launches have, if this one doesn't."""
        lacking = {name: 0 for name in ("copies", "cluster_lanes", "tensor_memory") if not self.areas[name]}
        return {name: start + offset for name, offset in offsets.items()} | lacking

    def _set_resident(self, index: int, at: dict[str, int]) -> None:
        record = {"block": -1, "shared_base": at["shared"], "local_base": at["local"], "states": at["states"],
                  "barriers": at["barriers"], "copies": at["copies"], "cluster_lanes": at["cluster_lanes"],
                  "tensor_memory": at["tensor_memory"]}  # fmt: skip
        for name, value in record.items():
            self.table[index, RESIDENT_SLOT[name]] = value

    def grow(self, slots: int) -> None:
        """Make room for `slots` resident blocks in all."""
        have = len(self.table)
        if slots <= have:
            return
        table = aligned(slots * RESIDENT_BYTES).view(np.int64).reshape(slots, len(RESIDENT))
        table[:have] = self.table
        self.table = table
        for index in range(have, slots):
            whole, offsets = _lay_out(self.areas, self.alignment)
            self.allocations.append(whole)
            self._set_resident(index, self._addresses(whole.ctypes.data, offsets))
        self["resident_table"], self["resident_slots"] = table.ctypes.data, slots

    # -- the block that is running, and all that are resident

    @property
    def shared(self) -> np.ndarray:
        """The shared memory of the block that runs now."""
        return _bytes_at(self["shared_base"], self.areas["shared"] - WINDOW)

    @property
    def local(self) -> np.ndarray:
        """The local memory of the block that runs now."""
        return _bytes_at(self["local_base"], self.areas["local"])

    def program_counters(self, states: int | None = None) -> tuple[int, ...]:
        """The program counter of every lane of a block: the one that runs now, or the one with its states there."""
        nbytes, warps = self.state_bytes, self.warps
        found = _bytes_at(self["states"] if states is None else states, nbytes * warps).reshape(warps, nbytes)
        return tuple(found[:, :128].copy().view(np.int32).ravel().tolist())

    def in_ended_block(self, address: int) -> bool:
        """Whether an address lies in the shared memory of a block of a cluster that has ended, or doesn't exist."""
        if self["cluster"] == 1:
            return False
        ended = self.table[self.table[:, RESIDENT_SLOT["finished"]] != 0]
        bases = [NOWHERE, *ended[:, RESIDENT_SLOT["shared_base"]].tolist()]
        return any(0 <= address - base < self.areas["shared"] for base in bases)

    def resident(self) -> list[tuple[int, int]]:
        """(number, address of its states) of each resident block."""
        if not self["in_block"]:
            return []
        return [(int(row[RESIDENT_SLOT["block"]]), int(row[RESIDENT_SLOT["states"]])) for row in self.table
                if row[RESIDENT_SLOT["block"]] >= 0]  # fmt: skip


def _bytes_at(address: int, nbytes: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address)) if nbytes else np.zeros(0, np.uint8)
