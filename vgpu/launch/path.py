"""The instructions and requests of one warp of a counted launch, from the log that its compiled code wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vgpu.base.context import PATH, PATH_ENTRY
from vgpu.launch.counters import placed
from vgpu.lower import Lowered, Site
from vgpu.ptx import Instruction

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel

ROOM = 100_000  # entries of a log
_OPS = {
    "copy": "load", "bulk_load": "load", "bulk_store": "store", "texture": "load", "surface_load": "load",
    "surface_store": "store",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExecutedInstruction:
    """One instruction that the warp executed: its lanes (bits), the user's line (or None), its memory request.

    `space` is "global" (textures and surfaces included), "shared", "local" or "" (no request), `op` "load", "store",
    "atomic" or ""; `sectors` are those of global memory, 0 for a bulk copy.
    """

    instruction: Instruction
    lanes: int
    line: int | None
    space: str = ""
    op: str = ""
    sectors: int = 0


@dataclass(frozen=True, eq=False)
class Path:
    """The log of one warp: `entries` is int64 of shape (entries, 6), with the columns of `context.PATH_ENTRY`.

    `whole` is false where the log was too short for all entries.
    """

    kernel: Kernel = field(repr=False)
    lowered: Lowered = field(repr=False)
    entries: np.ndarray = field(repr=False)
    whole: bool

    def steps(self) -> Iterator[ExecutedInstruction]:
        """The instructions in the order in which the warp executed them."""
        basic_blocks, codes = len(self.lowered.basic_blocks), self.entries[:, 0].tolist()
        begins = [at for at, code in enumerate(codes) if code < basic_blocks]
        for begin, end in zip(begins, [*begins[1:], len(codes)], strict=True):
            code, lanes = self.entries[begin, :2].tolist()
            requests: dict[int, tuple[str, str, int]] = {}
            for row in self.entries[begin + 1 : end].tolist():
                entry = dict(zip(PATH_ENTRY, row, strict=True))
                site = self.lowered.sites[entry["code"] - basic_blocks]
                found = _request(site, entry)
                # A copy makes requests to global and shared memory; it waits for the former.
                if found[0] == "global" or site.at[1] not in requests:
                    requests[site.at[1]] = found
            for position, instruction, line in self._placed[code]:
                yield ExecutedInstruction(instruction, lanes, line or None, *requests.get(position, ("", "", 0)))

    @cached_property
    def _placed(self) -> list[list[tuple[int, Instruction, int]]]:
        files = self.kernel.module.module.files
        return placed(self.lowered, {index for index, name in files.items() if name == self.kernel.filename})


def _request(site: Site, entry: dict[str, int]) -> tuple[str, str, int]:
    """(space, op, sectors) of one request."""
    space = "global" if entry["requests"] else "shared" if entry["shared_requests"] else "local"
    if space == "global" and site.space == "const":
        space = "const"
    return space, _OPS.get(site.kind, site.kind), entry["sectors"] if space == "global" else 0


def log(room: int = ROOM) -> np.ndarray:
    """An empty log with room for so many entries."""
    empty = np.zeros(len(PATH) + room * len(PATH_ENTRY), np.int64)
    empty[PATH.index("room")] = room
    return empty


def read(kernel: Kernel, lowered: Lowered, written: np.ndarray) -> Path:
    """The path that a launch has written to a log."""
    count, room = written[: len(PATH)].tolist()
    entries = written[len(PATH) :].reshape(-1, len(PATH_ENTRY))[: min(count, room)]
    return Path(kernel, lowered, entries, count <= room)
