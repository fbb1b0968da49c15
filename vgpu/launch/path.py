"""What one warp of a counted launch did, from the log that its compiled code wrote: instructions and their requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from vgpu.base.context import PATH, PATH_ENTRY
from vgpu.launch.counters import placed
from vgpu.lower import Lowered
from vgpu.ptx import Instruction

ROOM = 100_000  # entries of a log
_OPS = {
    "copy": "load", "bulk_load": "load", "bulk_store": "store", "texture": "load", "surface_load": "load",
    "surface_store": "store",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Passed:
    """One instruction that the warp executed: its lanes (bits), the user's line (or None), what it asked of memory.

    `space` is "global" (of textures and surfaces, too), "shared", "local" or "" (no request), `op` "load", "store",
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
    """The log of one warp: `entries` are int64 of shape (entries, 6), whose columns `context.PATH_ENTRY` names.

    `whole` is false where the log had no room for all of it.
    """

    kernel: object = field(repr=False)
    lowered: Lowered = field(repr=False)
    entries: np.ndarray = field(repr=False)
    whole: bool

    def steps(self) -> Iterator[Passed]:
        """The instructions in the order in which the warp executed them."""
        basic_blocks, codes = len(self.lowered.basic_blocks), self.entries[:, 0].tolist()
        begins = [at for at, code in enumerate(codes) if code < basic_blocks]
        for begin, end in zip(begins, [*begins[1:], len(codes)], strict=True):
            code, lanes = self.entries[begin, :2].tolist()
            asked = {}
            for row in self.entries[begin + 1 : end].tolist():
                entry = dict(zip(PATH_ENTRY, row, strict=True))
                site = self.lowered.sites[entry["code"] - basic_blocks]
                found = _request(site, entry)
                # A copy asks both global and shared memory; what it waits for is the former.
                if found[0] == "global" or site.at[1] not in asked:
                    asked[site.at[1]] = found
            for position, instruction, line in self._placed[code]:
                yield Passed(instruction, lanes, line or None, *asked.get(position, ("", "", 0)))

    @cached_property
    def _placed(self) -> list[list[tuple[int, Instruction, int]]]:
        files = self.kernel.module.module.files
        return placed(self.lowered, {index for index, name in files.items() if name == self.kernel.filename})


def _request(site, entry: dict[str, int]) -> tuple[str, str, int]:
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


def read(kernel, lowered: Lowered, written: np.ndarray) -> Path:
    """The path that a launch has written to a log."""
    wanted, room = written[: len(PATH)].tolist()
    entries = written[len(PATH) :].reshape(-1, len(PATH_ENTRY))[: min(wanted, room)]
    return Path(kernel, lowered, entries, wanted <= room)
