"""One thing the host asked for, as data, and what it takes to do it again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vgpu.operations.accesses import Touch
from vgpu.operations.queues import Queue


@dataclass(frozen=True, eq=False)
class Launch:
    """A kernel's launch: `params` are the bytes of each PTX parameter, `arrays` the `ArrayInfo`s of its arguments."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    params: tuple[bytes, ...]
    arrays: tuple
    shared_bytes: int = 0
    cooperative: bool = False


@dataclass(frozen=True, eq=False)
class Call:
    """A copy or a function of NumPy: each of `outputs` gets one result of `name(*inputs, **named)`.

    `name` is "copy" for what leaves values as they are. Outputs, and arrays among the inputs, are views of the memory.
    """

    name: str
    inputs: tuple
    outputs: tuple[np.ndarray, ...]
    named: dict = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Operation:
    """One thing the host asked for.

    `kind` is "kernel", "H2D", "D2H", "D2D", "memset", "array" (work that NumPy does here), "host function", "record",
    "wait", "synchronise", "graph", "host read" or "host write". `waits` says whether the host waits for its end;
    `pinned` what the host's side of a copy is (None where there is none); `asynchronous` whether the call asked
    not to wait. `nodes` are a graph's operations, each with the numbers of those it follows; `graph` is
    the graph itself, the same object at each of its launches. `does` is what is needed to do it again; only recorders
    that ask for it get it, as it keeps memory alive.
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
    does: Launch | Call | None = None
