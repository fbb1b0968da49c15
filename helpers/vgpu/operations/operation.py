"""One thing the host asked for, as data."""

from __future__ import annotations

from dataclasses import dataclass

from helpers.vgpu.operations.accesses import Touch
from helpers.vgpu.operations.queues import Queue


@dataclass(frozen=True, eq=False)
class Operation:
    """One thing the host asked for.

    `kind` is "kernel", "H2D", "D2H", "D2D", "memset", "array" (work that NumPy does here), "host function", "record",
    "wait", "synchronise", "graph", "host read" or "host write". `waits` says whether the host waits for its end;
    `pinned` what the host's side of a copy is (None where there is none); `asynchronous` whether the call asked
    not to wait. `nodes` are a graph's operations, each with the numbers of those it follows; `graph` is
    the graph itself, the same object at each of its launches.
    """

    kind: str
    queue: Queue | None = None
    label: str = ""
    nbytes: int = 0
    pinned: bool | None = None
    asynchronous: bool = False
    waits: bool = False
    accesses: tuple[Touch, ...] = ()
    kernel: object = None
    counters: object = None
    event: object = None
    nodes: tuple[tuple[Operation, tuple[int, ...]], ...] = ()
    graph: object = None
