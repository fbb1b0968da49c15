"""A model of a small cache, for asking what a hit rate says: whole sectors, and the one not used for longest goes.

NVIDIA does not document how its caches choose; on a GPU the counter is `l1tex__t_sector_hit_rate.pct`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vgpu.tools.prepare import Dimensions, Grid
from vgpu.tools.steps.trace import SECTOR, Access, Trace, trace

KIB = 1024


@dataclass(frozen=True)
class Asked:
    """One request of a warp as the cache saw it: its array, where it began, how many sectors it asked for and got.

    `first`: bytes from the start of `array` to the first sector; `hits` of the `sectors` were in the cache already.
    """

    array: str | None
    first: int
    sectors: int
    hits: int


def hit_rate(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence, *, nbytes: int = 16 * KIB, op: str = "load"
) -> float | None:
    """The modelled share of the sectors that the first block asks of global memory and a cache of `nbytes` has kept.

    kernel, grid, block, args: as for `trace`, which runs that block on a copy of its arrays. The cache starts empty and
    sees the requests of `op`, "load" or "store", in the order of the trace. None where there is no such request.
    Raises ValueError for a cache that holds no sector.
    """
    return share_found(cached(kernel, grid, block, args, nbytes=nbytes, op=op))


def cached(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence, *, nbytes: int = 16 * KIB, op: str = "load"
) -> tuple[Asked, ...]:
    """The same request by request, as `plots.cache_requests` draws them."""
    return requests(trace(kernel, grid, block, args), nbytes, op=op)


def of_trace(trace: Trace, nbytes: int = 16 * KIB, *, op: str = "load") -> float | None:
    """The same of requests that have been traced."""
    return share_found(requests(trace, nbytes, op=op))


def share_found(asked: tuple[Asked, ...]) -> float | None:
    """Hits over sectors asked for; None where nothing was asked for."""
    sectors = sum(each.sectors for each in asked)
    return sum(each.hits for each in asked) / sectors if sectors else None


def requests(trace: Trace, nbytes: int = 16 * KIB, *, op: str = "load") -> tuple[Asked, ...]:
    """Every request of a trace for global memory, in order, with what a cache of `nbytes` had kept of it."""
    room = nbytes // SECTOR
    if room < 1:
        raise ValueError(f"a cache holds whole sectors of {SECTOR} bytes; {nbytes} bytes hold none")
    kept: OrderedDict[tuple, None] = OrderedDict()
    found = []
    for access in trace.accesses:
        if access.space != "global" or access.op != op:
            continue
        hits, sectors = 0, _sectors(access)
        for sector in sectors:
            hits += sector in kept
            kept[sector] = None
            kept.move_to_end(sector)
            if len(kept) > room:
                kept.popitem(last=False)
        if sectors:
            found.append(Asked(access.array, SECTOR * sectors[0][1], len(sectors), hits))
    return tuple(found)


def _sectors(access: Access) -> list[tuple]:
    """The sectors of one request, each once, by array and number; an access may reach into several."""
    found = {
        (access.array or "", sector)
        for address, taking in zip(access.addresses, access.lanes, strict=True)
        if taking
        for sector in range(address // SECTOR, (address + access.nbytes - 1) // SECTOR + 1)
    }
    return sorted(found)
