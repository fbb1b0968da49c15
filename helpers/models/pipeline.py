"""Tiles going through the stages of a block, modelled: when each is copied, waits, and is computed with.

The rules, all times in clocks:

- a block has `stages` places for tiles in shared memory. The copy of a tile is issued when its place is free: at the
  start for the first tiles, for any other when the tile that had the place before has been computed with;
- memory serves copies one after another, each for `transfer` clocks, and a tile is there `latency` clocks later;
- the SM computes with one tile at a time, `compute` clocks each, in the order in which they came; a block keeps the
  order of its tiles;
- all resident blocks begin together. Issuing, waiting and barriers take no time.

So in the long run a tile takes the SM the longest of three: `compute`; `transfer`; and a tile's whole way through its
place, latency + transfer + compute, divided by all the places there are (Little's law).
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True)
class Tile:
    """One tile of one block: the stage it goes through and the clocks at which things happen to it."""

    block: int
    number: int
    stage: int
    issued: float
    arrived: float
    begun: float
    ended: float


@dataclass(frozen=True, repr=False)
class Pipeline:
    """All tiles of an SM's resident blocks; `pace`: clocks for a tile in the long run, and `bound`: what sets them."""

    tiles: tuple[Tile, ...]
    stages: int
    blocks: int
    compute: float
    pace: float
    bound: str

    @property
    def clocks(self) -> float:
        """The clock at which the last tile has been computed with."""
        return max(tile.ended for tile in self.tiles)

    @property
    def bubble(self) -> float:
        """The share of all clocks in which nothing is computed, 0 to 1; filling the pipeline counts."""
        return 1 - self.compute * len(self.tiles) / self.clocks

    def __repr__(self) -> str:
        return (
            f"Pipeline({self.blocks} × {self.stages} stages: {self.clocks:g} clocks for {len(self.tiles)} tiles, "
            f"bubble {self.bubble:.0%}, {self.pace:g} clocks a tile in the long run, bound by {self.bound}; modelled)"
        )


def pace(stages: int, latency: float, transfer: float, compute: float, blocks: int = 1) -> tuple[float, str]:
    """(clocks that a tile takes an SM in the long run, what sets them: "compute", "transfer" or "latency")."""
    limits = {
        "compute": compute, "transfer": transfer, "latency": (latency + transfer + compute) / (stages * blocks),
    }  # fmt: skip
    bound = max(limits, key=limits.__getitem__)
    return limits[bound], bound


def pipeline(
    stages: int, latency: float, transfer: float, compute: float, *, tiles: int = 10, blocks: int = 1
) -> Pipeline:
    """The pipelines of `blocks` resident blocks with so many stages and tiles each, by the rules above.

    Raises ValueError for less than one stage, tile or block, for negative clocks and for no compute at all.
    """
    for name, value in (("stages", stages), ("tiles", tiles), ("blocks", blocks)):
        if value < 1:
            raise ValueError(f"{name} is 1 at least, not {value}")
    if min(latency, transfer) < 0 or compute <= 0:
        raise ValueError("latency and transfer are 0 clocks or more, and compute more than 0")
    memory_free = sm_free = 0.0
    issued = {(block, tile): 0.0 for tile in range(min(stages, tiles)) for block in range(blocks)}
    queue = deque(sorted(issued, key=lambda each: (each[1], each[0])))
    ready: list[tuple[float, int, int]] = []
    done: list[Tile] = []
    while queue or ready:
        while queue:
            block, number = queue.popleft()
            memory_free = max(memory_free, issued[block, number]) + transfer
            heapq.heappush(ready, (memory_free + latency, number, block))
        arrived, number, block = heapq.heappop(ready)
        start = max(arrived, sm_free)
        sm_free = start + compute
        done.append(Tile(block, number, number % stages, issued[block, number], arrived, start, sm_free))
        if number + stages < tiles:
            issued[block, number + stages] = sm_free
            queue.append((block, number + stages))
    return Pipeline(tuple(done), stages, blocks, compute, *pace(stages, latency, transfer, compute, blocks))
