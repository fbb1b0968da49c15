"""Sources of copies that the host changed too early: a copy reads when it runs, not when it is asked for.

Nobody sees a host write to memory. What a source holds is remembered as a checksum when its copy is asked for, and
compared when the host has waited; a source that differs was written in between.
"""

from __future__ import annotations

import zlib

import numpy as np

from vgpu.operations.accesses import access, touches
from vgpu.operations.operation import Operation
from vgpu.storage import memory

_MOST = 64  # sources watched at a time


class Sources:
    """The pinned sources of copies in flight, each with its copy and its checksum from when that was asked for."""

    def __init__(self):
        self._in_flight: list[tuple[Operation, np.ndarray, int]] = []

    def before(self, operation: Operation) -> list[Operation]:
        """The host's writes to be noted before an operation is."""
        if self._in_flight:
            self._forget_overwritten(operation)
        if operation.kind == "H2D":
            return self.changed(again=operation)
        return self.changed() if operation.kind == "synchronise" or operation.waits else []

    def after(self, operation: Operation) -> None:
        """Watch the source of a copy from pinned memory that the host does not wait for."""
        if operation.kind == "H2D" and operation.pinned and not operation.waits:
            for touched in operation.accesses:
                if not touched.writes:
                    place = memory.describe(int(touched.starts[0]))
                    source = memory.view(place.allocation, operation.nbytes, np.uint8, offset=place.offset)
                    self._in_flight.append((operation, source, zlib.crc32(source)))

    def changed(self, again: Operation | None = None) -> list[Operation]:
        """The host's writes to all sources; or, when one is about to be copied `again`, to what that copy reads."""
        watched, self._in_flight = self._in_flight[-_MOST:], []
        found = []
        for operation, source, before in watched:
            other = again is not None and not touches(again.accesses, source, False)
            if other or zlib.crc32(source) == before:
                self._in_flight.append((operation, source, before))
            else:
                label = f"host write to the source of {operation.label}"
                found.append(Operation("host write", label=label, accesses=access(source, True, "the host's buffer")))
        return found

    def clear(self) -> None:
        self._in_flight = []

    def _forget_overwritten(self, operation: Operation) -> None:
        """A source that is known to be written, by device or host, has nothing more to tell by its contents."""
        touched = [*operation.accesses, *(piece for node, _ in operation.nodes for piece in node.accesses)]
        self._in_flight = [watched for watched in self._in_flight if not touches(touched, watched[1], True)]
