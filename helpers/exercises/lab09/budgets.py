"""Budgets of products: what a block has to load once, how often a patch asks for its factors, and who multiplies.

They divide by what the case needs, so useless work never makes a ratio smaller. Launches are measured where whole tiles
cover the result.
"""

from __future__ import annotations

from helpers.checking.budgets import no_conflicts
from helpers.checking.exercise import Budget
from helpers.checking.measures import (
    multiplied,
    multiplied_floats,
    multiplied_integers,
    outside_registers,
    stored_for_needed,
)

WARP, FRAGMENT, FLOAT, HALF = 32, 16, 4, 2


def loaded_for_tiles(profile) -> float:
    """Bytes of all sectors that requests loaded, for each byte of the rows and columns that the blocks need."""
    return 32 * profile["global_read_sectors"] / _bytes_for_tiles(profile)


def _bytes_for_tiles(profile) -> float:
    """Bytes of the rows and columns that the blocks need."""
    across, down = profile.counters.grid[:2]
    return profile.needed.read_bytes * 2 * across * down / (across + down)


def products(profile, tile: int, size: int) -> float:
    """The multiplications of a matrix product with square tiles of results, whose factors have `size` bytes."""
    across, down = profile.counters.grid[:2]
    inner = profile.needed.read_bytes / (size * tile * (across + down))
    return tile * tile * across * down * inner


def _reads_for_products(profile) -> float:
    """Wavefronts of reads from shared memory, for each multiplication of a warp's 32 lanes."""
    read = max(
        profile["shared_load_wavefronts"] + profile["shared_atomic_wavefronts"], profile["shared_read_requests"] / 4
    )
    return WARP * read / products(profile, 64, FLOAT)


def _computed_for_causal(profile) -> float:
    """Multiplications for each that a triangle with its diagonal needs, in heads of whole tiles of 16."""
    across, _, heads = profile.counters.grid
    rows = 16 * across
    inner = profile.needed.read_bytes / (2 * FLOAT * rows * heads)
    elements = (_bytes_for_causal(profile) + profile.needed.written_bytes) / FLOAT
    return multiplied(profile, heads * rows * (rows + 1) / 2 * inner, elements)


def _loaded_for_causal(profile) -> float:
    """Bytes of sectors loaded, for each byte that the blocks on and below the diagonal need."""
    return 32 * profile["global_read_sectors"] / _bytes_for_causal(profile)


def _bytes_for_causal(profile) -> float:
    """Bytes of the rows that the blocks on and below the diagonal need."""
    return profile.needed.read_bytes * (profile.counters.grid[0] + 1) / 2


def _ordinary_for_products(profile) -> float:
    """Multiplications that ordinary cores make, of floats or integers, for each that the product has."""
    elements = _bytes_for_tiles(profile) / HALF + profile.needed.written_bytes / FLOAT
    return (multiplied_floats(profile) + multiplied_integers(profile, elements)) / products(profile, 32, HALF)


def _instructions_for_fragments(profile) -> float:
    """Instructions of warps for each 16 × 16 × 16 multiplications; those of integers count once more."""
    instructions = profile["instructions"] + profile["integer_products"] / WARP
    return FRAGMENT**3 * instructions / products(profile, 32, HALF)


LOADED = Budget(
    "bytes loaded per byte of tiles",
    loaded_for_tiles,
    1.1,
    "A block of results needs so many rows or columns of either side: each of them once.",
)
STORES = Budget(
    "bytes stored per byte needed",
    stored_for_needed,
    1.1,
    "Every sector is stored to once if the lanes of a warp write neighbours in a row.",
    "global_store_sectors",
)
READS = Budget(
    "shared wavefronts per product",
    _reads_for_products,
    0.8,
    "Four elements of one side and four of the other make sixteen products, and so half a read for each.",
    "shared_load_wavefronts",
)
IN_REGISTERS = Budget(
    "requests to local memory",
    outside_registers("local_requests"),
    0,
    "An array stands in registers only where the compiler knows every index.",
    "local_load_requests",
)
COMPUTED = Budget(
    "multiplications per one needed",
    _computed_for_causal,
    1.3,
    "Above the diagonal nothing has to be multiplied, so blocks that lie there can leave the loop out.",
    "instructions",
)
CAUSAL_LOADED = Budget(
    "bytes loaded per byte of tiles",
    _loaded_for_causal,
    1.1,
    "A block needs 16 rows of q and 16 rows of k, each once, and none of them above the diagonal.",
)
ORDINARY = Budget(
    "multiplications on ordinary cores",
    _ordinary_for_products,
    0.05,
    "mma_sync multiplies two matrices of 16 × 16 in one instruction of a warp, and is counted by itself.",
    "flops_fp32",
)
INSTRUCTIONS = Budget(
    "instructions per 16 x 16 x 16",
    _instructions_for_fragments,
    300,
    "One mma_sync stands for 128 multiply-adds of a warp. What is left is loading, and every element of a tile needs "
    "to be fetched by one lane once.",
    "instructions",
)
NO_CONFLICTS = no_conflicts(0.1, most=48)
