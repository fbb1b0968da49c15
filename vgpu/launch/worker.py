"""A worker thread's context, and the places in which blocks are resident: plain memory that compiled code works on."""

from __future__ import annotations

import ctypes

import numpy as np

from vgpu.base.context import (
    BARRIER_BYTES,
    CONTEXT,
    COPIES,
    PLACE,
    PLACE_BYTES,
    PLACE_SLOT,
    QUEUE_BYTES,
    SITE_BYTES,
    SITE_SLOT,
    SLOT,
    TEXTURE_BYTES,
)
from vgpu.launch import host_calls
from vgpu.lower.tallies import BASIC_BLOCK_SLOTS
from vgpu.storage import layout

LANES = 32
WINDOW = 128  # bytes behind shared memory that belong to nobody


def aligned(nbytes: int, alignment: int = 64) -> np.ndarray:
    """Zeroed bytes whose address is a multiple of `alignment`."""
    raw = np.zeros(nbytes + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start : start + nbytes]


def _lay_out(sizes: dict[str, int]) -> tuple[np.ndarray, dict[str, int]]:
    """One piece of memory for areas of these sizes, and where in it each begins."""
    places, end = {}, 0
    for name, nbytes in sizes.items():
        # Shared memory starts at a multiple of 1024 bytes, so that banks and sectors depend on offsets only.
        end = layout.align_up(end, 1024 if name == "shared" else 256)
        places[name], end = end, end + nbytes
    return aligned(end, 1024), places


def block_areas(run) -> dict[str, int]:
    """The bytes of each area that a resident block has."""
    return {
        "states": run.warps * run.lowered.state_bytes, "local": run.warps * LANES * run.lowered.local_bytes,
        "barriers": BARRIER_BYTES, "copies": run.warps * QUEUE_BYTES + COPIES if run.asynchronous else 0,
        # The runtime reads up to so many bytes at a time, so there is room for that behind the last byte.
        "shared": run.shared_bytes + WINDOW,
    }  # fmt: skip


class Worker:
    """One worker thread's context and buffers, with the first place in one piece of memory."""

    def __init__(self, run):
        # No reference to the launch: a cycle would keep both, and what they hold, until the collector comes.
        lowered, self.warps, self.state_bytes = run.lowered, run.warps, run.lowered.state_bytes
        self.areas = areas = block_areas(run)
        own = {
            "slots": 8 * len(CONTEXT), "sites": SITE_BYTES * max(1, len(lowered.sites)),
            "basic_blocks": 8 * BASIC_BLOCK_SLOTS * len(lowered.basic_blocks), "table": PLACE_BYTES, "host_data": 1024,
            "texture_data": TEXTURE_BYTES,
        }  # fmt: skip
        whole, offsets = _lay_out({**own, **areas})
        start = whole.ctypes.data
        for name, nbytes in own.items():
            setattr(self, name, whole[offsets[name] : offsets[name] + nbytes])
        self.pieces = [whole]
        self.pointer = start + offsets["slots"]
        self.slots, self.table = self.slots.view(np.int64), self.table.view(np.int64).reshape(1, -1)
        fresh = self.sites.view(np.int64).reshape(-1, SITE_BYTES // 8)
        fresh[:, [SITE_SLOT["base"], SITE_SLOT["mask"]]] = -1  # no allocation and no pattern seen yet
        at = {name: start + offset for name, offset in offsets.items()}
        self._set_place(0, at)
        values = run.slots | {
            "shared_base": at["shared"], "local_base": at["local"], "sites": at["sites"], "states": at["states"],
            "basic_blocks": at["basic_blocks"], "barriers": at["barriers"], "host_data": at["host_data"],
            "copies": at["copies"], "texture_data": at["texture_data"], "place_table": at["table"], "places": 1,
        }  # fmt: skip
        self.slots[[SLOT[name] for name in values]] = list(values.values())
        self.callback = None
        if any(site.kind in ("host", "heap") for site in lowered.sites):
            self.callback = host_calls.callback(self, run)
            self.slots[SLOT["host"]] = ctypes.cast(self.callback, ctypes.c_void_p).value
        self.active, self.running, self.idle_at, self.spun = True, False, -1, 0

    def __getitem__(self, name: str) -> int:
        return int(self.slots[SLOT[name]])

    def __setitem__(self, name: str, value: int) -> None:
        self.slots[SLOT[name]] = value

    def _set_place(self, index: int, at: dict[str, int]) -> None:
        record = {"block": -1, "shared_base": at["shared"], "local_base": at["local"], "states": at["states"],
                  "barriers": at["barriers"], "copies": at["copies"]}  # fmt: skip
        for name, value in record.items():
            self.table[index, PLACE_SLOT[name]] = value

    def grow(self, places: int) -> None:
        """Have room for so many resident blocks in all."""
        have = len(self.table)
        if places <= have:
            return
        table = aligned(places * PLACE_BYTES).view(np.int64).reshape(places, len(PLACE))
        table[:have] = self.table
        self.table = table
        for index in range(have, places):
            whole, offsets = _lay_out(self.areas)
            self.pieces.append(whole)
            self._set_place(index, {name: whole.ctypes.data + offset for name, offset in offsets.items()})
        self["place_table"], self["places"] = table.ctypes.data, places

    # -- the block that is running, and all that are resident

    @property
    def shared(self) -> np.ndarray:
        """The shared memory of the block that runs now."""
        return _bytes_at(self["shared_base"], self.areas["shared"] - WINDOW)

    @property
    def local(self) -> np.ndarray:
        """The local memory of the block that runs now."""
        return _bytes_at(self["local_base"], self.areas["local"])

    def standing(self, states: int | None = None) -> tuple[int, ...]:
        """The program counter of every lane of a block: the one that runs now, or the one whose states these are."""
        nbytes, warps = self.state_bytes, self.warps
        found = _bytes_at(self["states"] if states is None else states, nbytes * warps).reshape(warps, nbytes)
        return tuple(found[:, :128].copy().view(np.int32).ravel().tolist())

    def resident(self) -> list[tuple[int, int]]:
        """(number, address of its states) of each block that is resident here."""
        if not self["in_block"]:
            return []
        return [(int(row[PLACE_SLOT["block"]]), int(row[PLACE_SLOT["states"]])) for row in self.table
                if row[PLACE_SLOT["block"]] >= 0]  # fmt: skip


def _bytes_at(address: int, nbytes: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address)) if nbytes else np.zeros(0, np.uint8)
