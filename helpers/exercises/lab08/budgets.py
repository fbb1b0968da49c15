"""What the exercises of lab 08 share: series in time, smoothed along it, and what recordings may come to."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget
from helpers.checking.stream_work import microseconds, of, waits
from vgpu.tools.streams.recording import Timeline

NEVER = 1e6
"""Microseconds of work that no kernel did."""
STEPS, SERIES = 256, 512
"""Of what is counted: 512 KiB, which a kernel of two blocks takes about as long for as a copy does."""
BLOCK = (128,)


def values(*shape: int, seed: int) -> np.ndarray:
    """Quarters from -8 to 8, in each series others: so none can be copied from its neighbour."""
    return (np.random.default_rng(seed).integers(-32, 33, shape) / 4).astype(np.float32)


def blank(*shape: int) -> np.ndarray:
    """Room that nobody has written."""
    return np.full(shape, np.nan, np.float32)


def smoothed(x: np.ndarray, level: np.ndarray | float = 0, times: int = 1) -> np.ndarray:
    """Along the second axis from the end each value becomes the mean of itself and of what came out before."""
    for _ in range(times):
        held, x = np.zeros_like(x[..., 0, :]) + level, x.copy()
        for t in range(x.shape[-2]):
            held = x[..., t, :] = (held + x[..., t, :]) / 2
    return x


def batches(count: int) -> str:
    """A number of batches in words."""
    return "1 batch" if count == 1 else f"{count:,} batches"


def seed_of(dice: np.random.Generator) -> int:
    """A seed that a generator draws."""
    return int(dice.integers(1, 10**6))


# -- what recordings come to


def modelled_time(timeline: Timeline) -> float:
    """Modelled microseconds; of a recording without a kernel, `NEVER`: the host has done the work, if anybody."""
    kernels = of(timeline, "kernel") or of(timeline, "graph")
    return microseconds(timeline) if kernels else NEVER


NO_WAITS = Budget(
    "waits of the host",
    waits,
    0,
    "Only issue work: no synchronize(), no copy that blocks, no copy from or to pageable memory.",
)


def requests(timeline: Timeline) -> float:
    """What the host asks for: copies, launches, graphs, waits, and once what is in each graph."""
    graphs = {id(each.graph): len(each.nodes) for each in of(timeline, "graph")}
    asked = [each for each in timeline.operations if each.kind not in ("host read", "host write", "record", "wait")]
    return len(asked) + sum(graphs.values()) if of(timeline, "kernel") or graphs else NEVER


def mebibytes_of_copies_in(timeline: Timeline, writes: bool) -> float:
    """Memory that copies to the device fill, or, but for `writes`, come from, each byte once, in MiB."""
    spans = sorted(
        (int(each.starts[0]), int(each.ends[-1]))
        for operation in of(timeline, "H2D")
        for each in operation.accesses
        if each.writes == writes
    )
    found, past = 0, 0
    for start, end in spans:
        found += max(0, end - max(start, past))
        past = max(past, end)
    return found / 2**20
