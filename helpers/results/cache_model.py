"""A model of a small cache, for asking what a hit rate says: whole sectors, and the one not used for longest goes.

NVIDIA does not document how its caches choose; on a GPU the counter is `l1tex__t_sector_hit_rate.pct`.
"""

from __future__ import annotations

from collections import OrderedDict

from helpers.results.steps.trace import SECTOR, Trace, trace

KIB = 1024


def hit_rate(kernel, grid, block, args, *, nbytes: int = 16 * KIB, op: str = "load") -> float | None:
    """The modelled share of the sectors that the first block asks of global memory and a cache of `nbytes` has kept.

    kernel, grid, block, args: as for `trace`, which runs that block on a copy of its arrays. The cache starts empty and
    sees the requests of `op`, "load" or "store", in the order of the trace. None where there is no such request.
    Raises ValueError for a cache that holds no sector.
    """
    return of_trace(trace(kernel, grid, block, args), nbytes, op=op)


def of_trace(trace: Trace, nbytes: int = 16 * KIB, *, op: str = "load") -> float | None:
    """The same of requests that have been traced."""
    room = nbytes // SECTOR
    if room < 1:
        raise ValueError(f"a cache holds whole sectors of {SECTOR} bytes; {nbytes} bytes hold none")
    kept: OrderedDict[tuple, None] = OrderedDict()
    asked = hits = 0
    for access in trace.accesses:
        if access.space != "global" or access.op != op:
            continue
        for sector in _sectors(access):
            asked += 1
            hits += sector in kept
            kept[sector] = None
            kept.move_to_end(sector)
            if len(kept) > room:
                kept.popitem(last=False)
    return hits / asked if asked else None


def _sectors(access) -> list[tuple]:
    """The sectors of one request, each once, by array and number; an access may reach into several."""
    found = {
        (access.array or "", sector)
        for address, taking in zip(access.addresses, access.lanes, strict=True)
        if taking
        for sector in range(address // SECTOR, (address + access.nbytes - 1) // SECTOR + 1)
    }
    return sorted(found)
