"""What a launch asked of memory and of other threads, by whichever instruction: sums of counters that budgets go by.

A budget on one kind of instruction is met by using another: an atomic that adds 0 loads, an asynchronous copy loads
without a load, an mbarrier keeps warps together without a barrier. So budgets go by these sums.

What no counter can see: whether a request was of any use (warps that ask for what nobody needs make the work look
shared out, and a share that is small look fair), and what the machine's caches would have made of it. Constant memory
is left out, which no kernel can write to and whose contents no argument brings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

REQUEST_BYTES, SECTOR_BYTES = 128, 32
_TEXELS = ("texture", "surface_load")


@dataclass(frozen=True)
class Road:
    """A sum of counters: its key, plain words, and what each of them weighs."""

    key: str
    plain: str
    weights: Mapping[str, float]

    def of(self, counts: Mapping[str, int]) -> float:
        """The sum, a whole number where no bulk copy takes part."""
        return sum(weight * counts[key] for key, weight in self.weights.items() if counts.get(key))


def _each(what: str, *kinds: str) -> dict[str, float]:
    return {f"{kind}_{what}": 1 for kind in kinds}


_READ = ("global_load", "global_fetch", "global_copy", *_TEXELS)
_WRITTEN = ("global_store", "global_atomic", "surface_store")
_ASKED = ("global_load", "global_store", "global_atomic", "global_copy", *_TEXELS, "surface_store")
_BULK = ("bulk_load_bytes", "bulk_store_bytes")

ROADS = (
    Road(
        "global_read_requests", "requests that read global memory, by any instruction",
        _each("requests", *_READ) | {"bulk_load_bytes": 1 / REQUEST_BYTES},
    ),
    Road(
        "global_read_sectors", "sectors read from global memory, by any instruction",
        _each("sectors", *_READ) | {"bulk_load_bytes": 1 / SECTOR_BYTES},
    ),
    Road(
        "global_write_requests", "requests that write global memory, by any instruction",
        _each("requests", *_WRITTEN) | {"bulk_store_bytes": 1 / REQUEST_BYTES},
    ),
    Road(
        "global_write_sectors", "sectors written to global memory, by any instruction",
        _each("sectors", *_WRITTEN) | {"bulk_store_bytes": 1 / SECTOR_BYTES},
    ),
    Road(
        "global_write_bytes", "bytes written to global memory, by any instruction; of atomics whole sectors",
        {"global_store_bytes": 1, "global_atomic_sectors": SECTOR_BYTES, "surface_store_sectors": SECTOR_BYTES,
         "bulk_store_bytes": 1},
    ),
    Road(
        "global_update_requests", "requests that update global memory: atomics, and bulk copies, which may add",
        {"global_atomic_requests": 1, "bulk_stores": 1},
    ),
    Road(
        "global_requests", "requests to global memory, by any instruction",
        _each("requests", *_ASKED) | dict.fromkeys(_BULK, 1 / REQUEST_BYTES),
    ),
    Road(
        "global_sectors", "sectors of global memory, by any instruction",
        _each("sectors", *_ASKED) | dict.fromkeys(_BULK, 1 / SECTOR_BYTES),
    ),
    Road(
        "shared_requests", "requests to shared memory, by any instruction",
        _each("requests", "shared_load", "shared_store", "shared_atomic", "matrix_load", "matrix_store")
        | {"async_copies": 1} | dict.fromkeys(_BULK, 1 / REQUEST_BYTES),
    ),
    Road(
        "shared_read_requests", "requests that read shared memory, by any instruction",
        _each("requests", "shared_load", "shared_atomic", "matrix_load") | {"bulk_store_bytes": 1 / REQUEST_BYTES},
    ),
    Road(
        "shared_write_requests", "requests that write shared memory, by any instruction; of atomics wavefronts",
        _each("requests", "shared_store", "matrix_store")
        | {"shared_atomic_wavefronts": 1, "async_copies": 1, "bulk_load_bytes": 1 / REQUEST_BYTES},
    ),
    Road("local_requests", "requests to local memory", _each("requests", "local_load", "local_store")),
    Road(
        "synchronisations", "barriers of any kind, operations on mbarriers, and loops that wait for memory, per warp",
        {"barriers": 1, "mbarrier_operations": 1, "waits": 1},
    ),
)  # fmt: skip
BY_KEY = {road.key: road for road in ROADS}
