"""Sources of copies that the host changed too early: an asynchronous copy reads when it runs, not when it is issued.

The host's writes to memory can't be observed. So a checksum of the source is kept when its copy is issued, and compared
when the host has waited; a source that differs was written in between.
"""

from __future__ import annotations

import zlib

import numpy as np

from vgpu.operations.accesses import access, touches
from vgpu.operations.operation import Operation
from vgpu.storage import memory

_MOST = 64  # sources watched at a time


class Sources:
    """The pinned sources of copies in flight, each with its copy and its checksum at the time of issue."""

    def __init__(self) -> None:
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
                    found = memory.describe(int(touched.starts[0]))
                    if isinstance(found.allocation, memory.Allocation):
                        source = memory.view(found.allocation, operation.nbytes, np.uint8, offset=found.offset)
                        self._in_flight.append((operation, source, _checksum(source)))

    def changed(self, again: Operation | None = None) -> list[Operation]:
        """The host's writes to all sources, or only to those that the copy `again` is about to read."""
        watched, self._in_flight = self._in_flight[-_MOST:], []
        found = []
        for operation, source, before in watched:
            other = again is not None and not touches(again.accesses, source, False)
            if other or _checksum(source) == before:
                self._in_flight.append((operation, source, before))
            else:
                label = f"host write to the source of {operation.label}"
                found.append(Operation("host write", label=label, accesses=access(source, True, "the host's buffer")))
        return found

    def clear(self) -> None:
        self._in_flight = []

    def _forget_overwritten(self, operation: Operation) -> None:
        """Stop watching sources that a recorded operation writes: their checksums are out of date."""
        touched = [*operation.accesses, *(touch for node, _ in operation.nodes for touch in node.accesses)]
        self._in_flight = [watched for watched in self._in_flight if not touches(touched, watched[1], True)]


def _checksum(source: np.ndarray) -> int:
    return zlib.crc32(source.data)
