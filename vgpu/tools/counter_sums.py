"""Sums of counters over all instructions that do the same: memory requests, sectors, bytes and synchronisations.

Budgets go by these sums. A budget on one kind of instruction could be met by using another: an atomic that adds 0
loads, an asynchronous copy loads without a load instruction, an mbarrier synchronises warps without a barrier.

No counter shows whether a request was of any use (warps that request unused data make the work look evenly shared),
nor what caches would have saved. Constant memory is left out: no kernel can write to it, and no argument brings its
contents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

REQUEST_BYTES, SECTOR_BYTES = 128, 32
_TEXELS = ("texture", "surface_load")


@dataclass(frozen=True)
class CounterSum:
    """A weighted sum of counters: its key, what it is in words, and each counter's weight."""

    key: str
    plain: str
    weights: Mapping[str, float]

    def of(self, counts: Mapping[str, int]) -> float:
        """The sum; a whole number unless bulk copies take part."""
        return sum(weight * counts[key] for key, weight in self.weights.items() if counts.get(key))


def _each(what: str, *kinds: str) -> dict[str, float]:
    return {f"{kind}_{what}": 1 for kind in kinds}


_READ = ("global_load", "global_fetch", "global_copy", *_TEXELS)
_WRITTEN = ("global_store", "global_atomic", "surface_store")
_REQUESTED = ("global_load", "global_store", "global_atomic", "global_copy", *_TEXELS, "surface_store")
_BULK = ("bulk_load_bytes", "bulk_store_bytes")


def _bulk(*kinds: str, unit: int) -> dict[str, float]:
    """Bulk copies of global memory in pieces of `unit` bytes; a multicast reads once for all its blocks."""
    once = {"bulk_cluster_bytes": -1 / unit} if "load" in kinds else {}
    return {f"bulk_{kind}_bytes": 1 / unit for kind in kinds} | once


COUNTER_SUMS = (
    CounterSum(
        "global_read_requests", "requests that read global memory, by any instruction",
        _each("requests", *_READ) | _bulk("load", unit=REQUEST_BYTES),
    ),
    CounterSum(
        "global_read_sectors", "sectors read from global memory, by any instruction",
        _each("sectors", *_READ) | _bulk("load", unit=SECTOR_BYTES),
    ),
    CounterSum(
        "global_write_requests", "requests that write global memory, by any instruction",
        _each("requests", *_WRITTEN) | {"bulk_store_bytes": 1 / REQUEST_BYTES},
    ),
    CounterSum(
        "global_write_sectors", "sectors written to global memory, by any instruction",
        _each("sectors", *_WRITTEN) | {"bulk_store_bytes": 1 / SECTOR_BYTES},
    ),
    CounterSum(
        "global_write_bytes", "bytes written to global memory, by any instruction; of atomics whole sectors",
        {"global_store_bytes": 1, "global_atomic_sectors": SECTOR_BYTES, "surface_store_sectors": SECTOR_BYTES,
         "bulk_store_bytes": 1},
    ),
    CounterSum(
        "global_update_requests", "requests that update global memory: atomics, and bulk copies, which may add",
        {"global_atomic_requests": 1, "bulk_stores": 1},
    ),
    CounterSum(
        "global_requests", "requests to global memory, by any instruction",
        _each("requests", *_REQUESTED) | _bulk("load", "store", unit=REQUEST_BYTES),
    ),
    CounterSum(
        "global_sectors", "sectors of global memory, by any instruction",
        _each("sectors", *_REQUESTED) | _bulk("load", "store", unit=SECTOR_BYTES),
    ),
    CounterSum(
        "shared_requests", "requests to shared memory, by any instruction",
        _each("requests", "shared_load", "shared_store", "shared_atomic", "matrix_load", "matrix_store")
        | {"async_copies": 1} | dict.fromkeys(_BULK, 1 / REQUEST_BYTES),
    ),
    CounterSum(
        "shared_read_requests", "requests that read shared memory, by any instruction",
        _each("requests", "shared_load", "shared_atomic", "matrix_load") | {"bulk_store_bytes": 1 / REQUEST_BYTES},
    ),
    CounterSum(
        "shared_write_requests", "requests that write shared memory, by any instruction; of atomics wavefronts",
        _each("requests", "shared_store", "matrix_store")
        | {"shared_atomic_wavefronts": 1, "async_copies": 1, "bulk_load_bytes": 1 / REQUEST_BYTES},
    ),
    CounterSum("local_requests", "requests to local memory", _each("requests", "local_load", "local_store")),
    CounterSum(
        "synchronisations", "barriers of any kind, operations on mbarriers, and loops that wait for memory, per warp",
        {"barriers": 1, "mbarrier_operations": 1, "waits": 1},
    ),
)  # fmt: skip
BY_KEY = {each.key: each for each in COUNTER_SUMS}
