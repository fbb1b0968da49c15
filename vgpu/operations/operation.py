"""Recorded operations of the host: what was submitted, and the data to run it again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from vgpu.operations.accesses import Touch
from vgpu.operations.queues import Queue

if TYPE_CHECKING:
    from vgpu.launch.counters import Counters
    from vgpu.launch.launch import Kernel
    from vgpu.operations.graphs import Graph
    from vgpu.storage.memory import ArrayInfo


@dataclass(frozen=True, eq=False)
class KernelLaunch:
    """A kernel's launch: `params` are the bytes of each PTX parameter, `arrays` describes its array arguments."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    params: tuple[bytes, ...]
    arrays: tuple[ArrayInfo, ...]
    shared_bytes: int = 0
    cooperative: bool = False


@dataclass(frozen=True, eq=False)
class NumPyCall:
    """A copy or a function of NumPy: each of `outputs` gets one result of `name(*inputs, **named)`.

    `name` is "copy" for a copy. Outputs, and arrays among the inputs, are views of the memory.
    """

    name: str
    inputs: tuple[Any, ...]
    outputs: tuple[np.ndarray, ...]
    named: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation of the host.

    `kind` is "kernel", "H2D", "D2H", "D2D", "memset", "array" (work that NumPy does), "host function", "record",
    "wait", "synchronise", "graph", "host read" or "host write". `waits`: the host waits for its end. `pinned`: the
    host's side of a copy is pinned (None without one). `asynchronous`: an asynchronous function was called. `nodes` are
    a graph's operations, each with the numbers of those it depends on; `graph` is the graph itself, the same object at
    each launch. `does` is the data to run it again; it keeps memory alive, so only some recorders get it. `early`: a
    kernel that a GPU may begin before the one in front of it has ended, and that doesn't wait for it.
    """

    kind: str
    queue: Queue | None = None
    label: str = ""
    nbytes: int = 0
    pinned: bool | None = None
    asynchronous: bool = False
    waits: bool = False
    accesses: tuple[Touch, ...] = ()
    kernel: Kernel | None = None
    counters: Counters | None = None
    event: object = None
    nodes: tuple[tuple[Operation, tuple[int, ...]], ...] = ()
    graph: Graph | None = None
    does: KernelLaunch | NumPyCall | None = None
    early: bool = False
